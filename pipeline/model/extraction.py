"""What an extractor found in one episode, and the event that carries it to the next stage."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.model.episode import EpisodeRef, Usage
from pipeline.model.moments import Moment
from pipeline.timeline.precision import Precision


class Cardinality(StrEnum):
    """How many values a (subject, relation) has at one time."""

    one = "one"
    many = "many"


class Mention(BaseModel):
    """An entity as an episode names it. Statements point to it by its index in the list of mentions."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str | None = None
    summary: str | None = None
    attributes: dict[str, Any] = {}
    aliases: tuple[str, ...] = ()


class StatementKind(StrEnum):
    """Whether a statement says that a fact holds, or that it no longer does."""

    asserts = "asserts"
    closes = "closes"


class Statement(BaseModel):
    """One fact as an episode states it.

    `subject` and `object` are indexes into the mentions; a fact about one entity only has both the same. Without
    `valid_at` the start is not known; the extract stage fills in the reference time where the contract says so.
    A statement of kind `closes` ends, at `invalid_at`, what was known of the same subject, relation and object.
    A `verbatim` statement was given as it stands (a triple), not read out of text: its relation is never respelled.
    """

    model_config = ConfigDict(frozen=True)

    subject: int
    relation: str
    object: int
    fact: str
    kind: StatementKind = StatementKind.asserts
    valid_at: Moment | None = None
    valid_at_precision: Precision | None = None
    invalid_at: Moment | None = None
    invalid_at_precision: Precision | None = None
    cardinality: Cardinality = Cardinality.many
    attributes: dict[str, Any] = {}
    verbatim: bool = False


class Extraction(BaseModel):
    """What an extractor found: entities as mentioned, facts as stated, and what it cost to find them."""

    model_config = ConfigDict(frozen=True)

    mentions: tuple[Mention, ...] = ()
    statements: tuple[Statement, ...] = ()
    usage: Usage = Usage()

    @property
    def empty(self) -> bool:
        """True when there is nothing to resolve."""
        return not self.mentions and not self.statements


class ExtractedEpisode(BaseModel):
    """The event on `episodes.extracted`: all that resolution needs, so that a rebuild pays no model call."""

    model_config = ConfigDict(frozen=True)

    episode: EpisodeRef
    extraction: Extraction


class ResolvedMention(BaseModel):
    """A mention with the entity that it stands for."""

    model_config = ConfigDict(frozen=True)

    entity_id: str
    name: str


class ResolvedEpisode(BaseModel):
    """The event on `episodes.resolved`: the statements, with `entities[i]` for the mention of index i.

    `renamed` are entities that have a fuller name since this episode, so that their facts are to bear it.
    """

    model_config = ConfigDict(frozen=True)

    episode: EpisodeRef
    entities: tuple[ResolvedMention, ...]
    statements: tuple[Statement, ...]
    renamed: tuple[str, ...] = ()
    usage: Usage = Usage()
