"""Facts that are already structured: a triples episode to mentions and statements, without any model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError

from pipeline.errors import Poison
from pipeline.identity import entity_key
from pipeline.model.episode import Episode, triple_sentence
from pipeline.model.event import Triple, TripleEntity
from pipeline.model.extraction import Cardinality, Extraction, Mention, Statement
from pipeline.ontology.registry import OntologyRegistry
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision

_TRIPLES = TypeAdapter(list[Triple])


class TriplesExtractor:
    """Implements `Extractor` for source `triples`. Names, types, relations and sentences stay as they are given.

    Ends with the same key and type are one mention; their attributes are merged key by key, the later value wins.
    A missing `valid_at` is the reference time, unless the triple only says when the fact ended and that is not
    later than the reference time: then the start is unknown. A missing `cardinality` is that of the ontology, else
    many. An extraction costs nothing.
    """

    def __init__(self, ontologies: OntologyRegistry | None = None) -> None:
        self._ontologies = ontologies or OntologyRegistry()

    async def extract(self, episode: Episode, context: Sequence[Episode] = ()) -> Extraction:
        """One statement for each triple, in order. Raises Poison when the content is no list of triples."""
        try:
            triples = _TRIPLES.validate_python(episode.content)
        except ValidationError as error:
            first = error.errors()[0]
            path = ".".join(str(part) for part in ("content", *first["loc"]))
            raise Poison(first["msg"].removeprefix("Value error, "), path) from None
        mentions = _Mentions()
        statements = [
            _statement(
                episode, triple, raw, mentions.add(triple.subject), mentions.add(triple.object)
            ).model_copy(update={"cardinality": self._cardinality(triple, episode)})
            for triple, raw in zip(triples, episode.content, strict=True)
        ]
        return Extraction(mentions=mentions.result(), statements=tuple(statements))

    def _cardinality(self, triple: Triple, episode: Episode) -> Cardinality:
        known = triple.cardinality or self._ontologies.cardinality_of(triple.relation, episode.ontology)
        return known or Cardinality.many


class _Mentions:
    """The ends of the triples in order of first appearance, each (key, type) once."""

    def __init__(self) -> None:
        self._index: dict[tuple[str, str | None], int] = {}
        self._named: list[tuple[str, str | None]] = []
        self._attributes: list[dict[str, Any]] = []

    def add(self, entity: TripleEntity) -> int:
        slot = (entity_key(entity.name), entity.type)
        index = self._index.setdefault(slot, len(self._named))
        if index == len(self._named):
            self._named.append((entity.name, entity.type))
            self._attributes.append({})
        self._attributes[index].update(entity.attributes or {})
        return index

    def result(self) -> tuple[Mention, ...]:
        return tuple(
            Mention(name=name, type=kind, attributes=attributes)
            for (name, kind), attributes in zip(self._named, self._attributes, strict=True)
        )


def _statement(episode: Episode, triple: Triple, raw: dict[str, Any], subject: int, target: int) -> Statement:
    valid_at, valid_precision = parse_partial(triple.valid_at) if triple.valid_at else (None, None)
    invalid_at, invalid_precision = parse_partial(triple.invalid_at) if triple.invalid_at else (None, None)
    if valid_at is None and (invalid_at is None or invalid_at > episode.reference_time):
        valid_at, valid_precision = episode.reference_time, Precision.second
    return Statement(
        subject=subject,
        relation=triple.relation,
        object=target,
        fact=triple_sentence(raw),
        valid_at=valid_at,
        valid_at_precision=valid_precision,
        invalid_at=invalid_at,
        invalid_at_precision=invalid_precision,
        cardinality=triple.cardinality or Cardinality.many,
        attributes=triple.attributes or {},
        verbatim=True,
    )
