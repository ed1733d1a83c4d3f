"""A group as a sequence of records: everything that a store holds of it, in a form that every store reads and writes.

The order of kinds is that of `Record`: what a record refers to stands before it. Text that is searched, keys and
columns are not in it; a store makes them anew. With the records of one store another holds an equal group: same ids,
same times of both timelines, same marks, so that no model is asked and nothing that was forgotten comes back.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Annotated, Literal, Protocol

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from pipeline.errors import SettingError
from pipeline.graph.vector import Vector
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Fact
from pipeline.model.moments import Moment
from pipeline.model.provenance import Contribution, Merge
from pipeline.timeline.evidence import Evidence


def packed(vector: Vector) -> str:
    """A vector as text: base64 over float32, little end first."""
    return base64.b64encode(np.asarray(vector, dtype="<f4").tobytes()).decode()


def unpacked(text: str) -> list[float]:
    """The inverse of `packed`."""
    values: list[float] = np.frombuffer(base64.b64decode(text), dtype="<f4").tolist()
    return values


class _Record(BaseModel):
    model_config = ConfigDict(frozen=True)


class GroupRecord(_Record):
    """Begins a group: how often its lanes have committed, and what it has cost today (a `DayTotal` as JSON)."""

    kind: Literal["group"] = "group"
    id: str
    lanes: dict[str, int] = {}
    spent: str | None = None


class EpisodeRecord(_Record):
    """A raw episode and what has become of it. `text` is what its vector is made of when it has none."""

    kind: Literal["episode"] = "episode"
    episode: Episode
    state: EpisodeState
    reason: str | None = None
    usage: Usage = Usage()
    created_at: Moment
    vector: str | None = None

    @property
    def text(self) -> str:
        """What is embedded."""
        return self.episode.text


class CommunityRecord(_Record):
    """A community; its members say so themselves."""

    kind: Literal["community"] = "community"
    community: Community
    vector: str | None = None

    @property
    def text(self) -> str:
        """What is embedded."""
        return self.community.name


class EntityRecord(_Record):
    """An entity with its community."""

    kind: Literal["entity"] = "entity"
    entity: Entity
    vector: str | None = None

    @property
    def text(self) -> str:
        """What is embedded."""
        return self.entity.name


class ContributionRecord(_Record):
    """What an episode told of an entity: MENTIONS."""

    kind: Literal["contribution"] = "contribution"
    contribution: Contribution


class EvidenceRecord(_Record):
    """One statement."""

    kind: Literal["evidence"] = "evidence"
    evidence: Evidence


class FactRecord(_Record):
    """A fact with its history."""

    kind: Literal["fact"] = "fact"
    fact: Fact
    vector: str | None = None

    @property
    def text(self) -> str:
        """What is embedded."""
        return self.fact.fact


class MergeRecord(_Record):
    """That two entities were joined."""

    kind: Literal["merge"] = "merge"
    merge: Merge


class MarkRecord(_Record):
    """That a stage has committed an episode, that an episode was forgotten, or a notice that is still to be sent.

    `judged` is what a judge decided (a `JudgedEpisode` as JSON); `forgotten` that the episode bears its tombstone."""

    kind: Literal["mark"] = "mark"
    episode_id: str
    stage: str
    output: str | None = None
    judged: str | None = None
    forgotten: bool = False


Embedded = EpisodeRecord | CommunityRecord | EntityRecord | FactRecord
"""The records that have a vector."""

Record = (
    GroupRecord
    | EpisodeRecord
    | CommunityRecord
    | EntityRecord
    | ContributionRecord
    | EvidenceRecord
    | FactRecord
    | MergeRecord
    | MarkRecord
)

records: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])
"""Reads and writes one record as JSON."""


class ArchiveSource(Protocol):
    """Tells groups as records. Opened before, closed after."""

    async def open(self) -> None:
        """Connect. SettingError when there is no graph that this version reads, Retryable while it is away."""

    async def close(self) -> None:
        """Let go."""

    async def groups(self) -> list[str]:
        """The ids of all groups, sorted."""

    async def dimension(self) -> int:
        """Length of the vectors."""

    async def model(self) -> str | None:
        """The embedding model, where the store knows it."""

    async def tell(self, group_id: str, on_record: Callable[[Record], None]) -> None:
        """Every record of a group, as it was at one moment. Raises Fenced when something was committed meanwhile and
        the store has no snapshots: begin again. `on_record` may be called from another thread."""


class ArchiveTarget(Protocol):
    """Takes records in."""

    async def open(self) -> None:
        """Connect, and create the schema for vectors of the configured dimension."""

    async def close(self) -> None:
        """Let go."""

    async def occupied(self, groups: Sequence[str]) -> list[str]:
        """Those of the groups of which anything is stored."""

    async def restored(self, name: str) -> int:
        """How many records of an archive were taken in so far."""

    async def restore(
        self, name: str, group_id: str, chunk: Sequence[Record], done: int, at: datetime
    ) -> None:
        """Write records of one group, and that `done` records of the archive are in, in one transaction.

        Every kind may be written again. Raises Poison that names what a record refers to and is not there."""


def check_model(wanted: str, stored: str | None, dimension: int, stored_dimension: int, what: str) -> None:
    """SettingError unless vectors of one model and dimension may stand beside another's."""
    if dimension != stored_dimension or (stored is not None and stored != wanted):
        raise SettingError(
            f"{what} holds vectors of {stored or 'a model'} with {stored_dimension} dimensions, the configured "
            f"embedding model {wanted} gives {dimension}"
        )
