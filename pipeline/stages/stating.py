"""From the statements of an episode to evidence: one spelling and one direction for what is one relation. Pure.

Statements that were read out of text follow the ontology and the built-in rules; what was given as it stands (a
triple) follows only what an ontology declares.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from pipeline.identity import stable_id
from pipeline.model.extraction import Cardinality, ResolvedEpisode, Statement, StatementKind
from pipeline.stages.same_fact import sentence_key
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.relation_rules import BuiltInRelations, RelationRules

OntologyRules = Callable[[str | None], RelationRules | None]
"""The rules of the ontology of a name (None: the default one); None when there is none."""


def no_ontology(name: str | None) -> None:
    """Implements `OntologyRules` where no ontology is configured."""


@dataclass(frozen=True)
class Vocabulary:
    """Which rules speak for which statements: the ontology's first, then the built-in ones."""

    built_in: RelationRules = field(default_factory=BuiltInRelations)
    ontology: OntologyRules = no_ontology


@dataclass(frozen=True)
class _Relation:
    name: str
    swap: bool
    symmetric: bool
    cardinality: Cardinality | None


def evidence_of(event: ResolvedEpisode, now: datetime, vocabulary: Vocabulary) -> list[Evidence]:
    """The evidence that an episode leaves; its ids depend on group, episode and place only."""
    ref = event.episode
    rules = vocabulary.ontology(ref.ontology)
    found = []
    for index, statement in enumerate(event.statements):
        relation = _relation(statement, rules, vocabulary.built_in)
        subject, target = event.entities[statement.subject], event.entities[statement.object]
        if relation.swap or (relation.symmetric and target.entity_id < subject.entity_id):
            subject, target = target, subject
        cardinality = _cardinality(statement, relation)
        found.append(
            Evidence(
                id=stable_id("evidence", ref.group_id, ref.id, str(index)),
                episode_id=ref.id,
                subject=subject.entity_id,
                relation=relation.name,
                object=target.entity_id,
                subject_name=subject.name,
                object_name=target.name,
                kind=statement.kind,
                cardinality=cardinality,
                symmetric=relation.symmetric,
                additive=cardinality is Cardinality.many
                and (statement.verbatim or relation.cardinality is Cardinality.many),
                fact=statement.fact,
                attributes=statement.attributes,
                valid_at=statement.valid_at,
                valid_at_precision=statement.valid_at_precision,
                invalid_at=statement.invalid_at,
                invalid_at_precision=statement.invalid_at_precision,
                reference_time=ref.reference_time,
                sequence=ref.sequence,
                index=index,
                recorded_at=now,
            )
        )
    return one_over_several(found, event)


def one_over_several(items: Sequence[Evidence], event: ResolvedEpisode) -> list[Evidence]:
    """The same evidence; what says one sentence under one relation of several pairs has one hyperedge.

    Its id depends on group, relation and sentence only, so that other episodes that say the same of several pairs,
    whenever they come, join it. What was given as it stands stays as it was given: a triple each.
    """
    pairs: dict[tuple[str, str], set[frozenset[str]]] = defaultdict(set)
    for item in items:
        if key := _shared_key(item, event):
            pairs[key].add(frozenset((item.subject, item.object)))
    shared = {key for key, of in pairs.items() if len(of) > 1}
    return [
        item.model_copy(update={"hyperedge": stable_id("hyperedge", event.episode.group_id, *key)})
        if (key := _shared_key(item, event)) in shared
        else item
        for item in items
    ]


def _shared_key(item: Evidence, event: ResolvedEpisode) -> tuple[str, str] | None:
    """Relation and sentence of a statement that may be one over several pairs."""
    sentence = sentence_key(item.fact)
    if not sentence or item.kind is not StatementKind.asserts or stated_by(item, event).verbatim:
        return None
    return item.relation, sentence


def stated_by(item: Evidence, event: ResolvedEpisode) -> Statement:
    """The statement that an evidence of the episode was made of."""
    return event.statements[item.index]


def moment_of(item: Evidence) -> datetime:
    """When a statement begins to tell against others: its start, else the end that it states, else when it was made."""
    ends = item.invalid_at if item.kind is StatementKind.closes else None
    return item.valid_at or ends or item.reference_time


def _relation(statement: Statement, ontology: RelationRules | None, built_in: RelationRules) -> _Relation:
    name, swap, symmetric, cardinality = statement.relation, False, False, None
    for rules in (ontology, None if statement.verbatim else built_in):
        if rules is None:
            continue
        name, turned = rules.canonical(name)
        swap ^= turned
        symmetric = symmetric or rules.is_symmetric(name)
        cardinality = cardinality or rules.cardinality(name)
    # Without a turn there is nothing about a triple's relation to change, its spelling least of all.
    kept = statement.relation if statement.verbatim and not swap else name
    return _Relation(kept, swap, symmetric, cardinality)


def _cardinality(statement: Statement, relation: _Relation) -> Cardinality:
    """What a triple says itself stands. Text says nothing of it, so there a declaration is worth more than a reading;
    a reading of the other direction says nothing of this one."""
    if statement.verbatim and not relation.swap:
        return statement.cardinality
    if relation.cardinality is not None:
        return relation.cardinality
    return Cardinality.many if relation.swap else statement.cardinality
