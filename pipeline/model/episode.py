"""An episode: the unit that a producer publishes, as it stands in the pipeline."""

from __future__ import annotations

import json
from decimal import Decimal
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer

from pipeline.model.moments import Moment


class Source(StrEnum):
    """What kind of content an episode has."""

    message = "message"
    text = "text"
    json = "json"
    triples = "triples"


class EpisodeState(StrEnum):
    """How far an episode has come. `committed`, `skipped` and `dead` are final."""

    received = "received"
    extracted = "extracted"
    resolved = "resolved"
    committed = "committed"
    skipped = "skipped"
    dead = "dead"


FINAL_STATES = frozenset((EpisodeState.committed, EpisodeState.skipped, EpisodeState.dead))
"""Those after which nothing more happens to an episode by itself."""


class Speaker(BaseModel):
    """Who says a message."""

    model_config = ConfigDict(frozen=True)

    name: str
    role: str | None = None


Cost = Annotated[Decimal, PlainSerializer(float, return_type=float, when_used="json")]
"""An amount in the unit of the configured prices; a plain number in JSON, read back as the same decimal number."""


class Usage(BaseModel):
    """What an episode has cost so far.

    `cached_tokens` are those of the prompt tokens that the endpoint had cached. `embeddings` counts the texts whose
    vectors were needed, `embedding_tokens` the tokens that an endpoint counted for those that were not known yet.
    `cost` is left out where nothing that has a price was used. Sums are exact.
    """

    model_config = ConfigDict(frozen=True)

    llm_calls: int = 0
    prompt_tokens: int = 0
    cached_tokens: int = 0
    completion_tokens: int = 0
    embeddings: int = 0
    embedding_tokens: int = 0
    cost: Cost | None = Field(default=None, exclude_if=lambda cost: cost is None)

    @property
    def tokens(self) -> int:
        """All tokens that an endpoint charges for."""
        return self.prompt_tokens + self.completion_tokens + self.embedding_tokens

    def __add__(self, other: Usage) -> Usage:
        counts = set(type(self).model_fields) - {"cost"}
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        added: dict[str, Any] = {name: getattr(self, name) + getattr(other, name) for name in counts}
        return Usage(**added, cost=sum(costs, Decimal(0)) if costs else None)


class EpisodeRef(BaseModel):
    """What the stages after extraction need to know of an episode.

    `sequence` is the order of arrival in the group's log; (reference_time, sequence) is the total order of evidence.
    `ontology` is the one that the producer asked for.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    group_id: str
    reference_time: Moment
    sequence: int
    ontology: str | None = None


class Episode(BaseModel):
    """A validated episode with its place in the log."""

    model_config = ConfigDict(frozen=True)

    id: str
    group_id: str
    source: Source
    content: Any
    reference_time: Moment
    sequence: int
    speaker: Speaker | None = None
    source_description: str | None = None
    thread_id: str | None = None
    metadata: dict[str, str | int | float | bool] = {}
    ontology: str | None = None

    @property
    def ref(self) -> EpisodeRef:
        """The episode without its content."""
        return EpisodeRef(
            id=self.id,
            group_id=self.group_id,
            reference_time=self.reference_time,
            sequence=self.sequence,
            ontology=self.ontology,
        )

    @property
    def text(self) -> str:
        """The content as readable text, as it is searched and shown to an extractor."""
        if isinstance(self.content, str):
            return f"{self.speaker.name}: {self.content}" if self.speaker else self.content
        if self.source is Source.triples:
            return "\n".join(triple_sentence(triple) for triple in self.content)
        return json.dumps(self.content, ensure_ascii=False)


def triple_sentence(triple: dict[str, Any]) -> str:
    """The sentence of a triple, or one made of both names and the relation when it has none."""
    if triple.get("fact"):
        return str(triple["fact"])
    relation = str(triple["relation"]).replace("_", " ").lower()
    return f"{triple['subject']['name']} {relation} {triple['object']['name']}"
