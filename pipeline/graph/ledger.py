"""CurationStore: what taking back and correcting by hand ask of a database.

A curation reads the whole group as a ledger, decides by pure functions what the group is without some evidence or
with some other identity, and writes the difference in one transaction. It is an operator's action: rare, and allowed
to cost as much as the group is large.

- The ledger says which version each lane of the group had before anything else was read; `commit_curation` raises all
  of them and raises `Fenced`, having written nothing, when one has moved since.
- A forgotten episode leaves the marks of every stage without output, and one named `FORGOTTEN`: whatever arrives for
  it later finds them and does nothing. Nothing else of it stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.vector import Vector
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Fact
from pipeline.model.judgement import JudgedEpisode
from pipeline.model.provenance import Contribution, Merge
from pipeline.timeline.evidence import Evidence

FENCED_STAGES = ("resolve_entities", "resolve_facts", "update_communities")
STAGES = ("extract", *FENCED_STAGES)
FORGOTTEN = "forgotten"
NOTICE = "notice"
"""Stage names of marks that no agent writes: the tombstone, and changes that are still to be published."""

Mentioned = tuple[str, str]
"""(episode id, entity id)."""


@dataclass(frozen=True)
class Ledger:
    """Everything that is stored of a group and decides what it says.

    `episodes` are the ids that are known, forgotten ones not; those in `unfinished` have entities and no facts yet.
    `outputs` are the JSON texts kept under marks, and `judged` what judges decided, by (episode id, stage).
    """

    group_id: str
    lanes: Mapping[str, int]
    episodes: frozenset[str] = frozenset()
    unfinished: frozenset[str] = frozenset()
    entities: Mapping[str, Entity] = field(default_factory=dict)
    contributions: Mapping[Mentioned, Contribution] = field(default_factory=dict)
    evidence: Mapping[str, Evidence] = field(default_factory=dict)
    facts: Mapping[str, Fact] = field(default_factory=dict)
    communities: Mapping[str, Community] = field(default_factory=dict)
    merges: Mapping[str, Merge] = field(default_factory=dict)
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], JudgedEpisode] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownEpisode:
    """How far the group has come with an episode: the stages that have marked it (`FORGOTTEN` among them), and its
    state, which is None where only marks are left of it."""

    id: str
    stages: frozenset[str] = frozenset()
    state: EpisodeState | None = None
    sequence: int = 0
    created_at: datetime | None = None
    reason: str | None = None
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class Restored:
    """An episode that a rebuild has brought as far as `state`: its marks of `stages` are set where they are missing
    (without output), and the raw episode is stored with the rest of the fields unless it is there."""

    episode: Episode
    state: EpisodeState
    stages: tuple[str, ...]
    usage: Usage
    created_at: datetime
    vector: Vector | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Lease:
    """Who rebuilds a group: a secret of the one who does, and words for everybody else."""

    token: str
    holder: str


@dataclass(frozen=True)
class CurationCommit:
    """The difference that a curation makes. What is removed goes first, so that a fact may return with other ends.

    `added` are episodes of the operator's own, with their vectors; they are committed in every stage at once.
    `forgotten` are episodes that go and leave their tombstone. `moves` maps entity id to its community or None;
    communities left without members go. `outputs` and `judged` overwrite what marks keep (None: nothing any more).
    `notice` (id, JSON text) is kept under a mark `NOTICE` until it was published. `restored` are episodes that a
    rebuild has brought further. The lane of resolve_entities has at least the version `place` afterwards, so that what
    comes next is placed behind what is written here. `lease` is the token under which the group is held, if it is.
    """

    group_id: str
    lanes: Mapping[str, int]
    at: datetime
    added: tuple[tuple[Episode, Vector | None], ...] = ()
    forgotten: tuple[str, ...] = ()
    removed_mentions: tuple[Mentioned, ...] = ()
    removed_evidence: tuple[str, ...] = ()
    removed_facts: tuple[str, ...] = ()
    removed_entities: tuple[str, ...] = ()
    removed_merges: tuple[str, ...] = ()
    entities: tuple[EntityWrite, ...] = ()
    contributions: tuple[Contribution, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[FactWrite, ...] = ()
    communities: tuple[CommunityWrite, ...] = ()
    moves: Mapping[str, str | None] = field(default_factory=dict)
    merges: tuple[Merge, ...] = ()
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict)
    judged: Mapping[tuple[str, str], JudgedEpisode | None] = field(default_factory=dict)
    notice: tuple[str, str] | None = None
    restored: tuple[Restored, ...] = ()
    place: int = 0
    lease: str = ""


@dataclass(frozen=True)
class Trace:
    """Where a text was found: the kind of thing (label, type or table), its id, and the property or column."""

    kind: str
    id: str
    field: str


class CurationStore(Protocol):
    """Reads and commits of curations. See the module for what every store promises."""

    async def ledger(self, group_id: str) -> Ledger:
        """The whole group, consistent with the versions of its lanes that come with it."""

    async def commit_curation(self, commit: CurationCommit) -> None:
        """One transaction, fenced against every lane of the group."""

    async def erase_group(self, group_id: str, lanes: Mapping[str, int], notice: tuple[str, str]) -> None:
        """Remove everything of a group but a tombstone for each episode id that is known of it, and keep the notice.
        One transaction, fenced as `commit_curation` is."""

    async def drop_marks(self, group_id: str) -> None:
        """Delete every mark of a group that was erased, its tombstones too: nothing is kept of it, and what is sent
        again is new. Only for a group that factstream itself writes; of a user's group a tombstone must stay."""

    async def notice_sent(self, group_id: str, name: str) -> None:
        """Drop a notice that was published."""

    async def traces(self, group_id: str, text: str) -> tuple[Trace, ...]:
        """Where the text stands in the group, whatever its case: every property and label, every column; also in its
        analysed form where full text is kept."""


class RebuildStore(CurationStore, Protocol):
    """What the rebuild of a group asks of a database, beside what a curation asks.

    A lease lasts a while and is renewed; it keeps two rebuilds of one group apart. While it `holds`, commits of the
    fenced stages and curations without its token are Retryable and write nothing: the group is at rest. It ends by
    itself when its holder dies. Raw episodes are stored and extracted all the same.
    """

    async def known_episodes(self, group_id: str) -> tuple[KnownEpisode, ...]:
        """Every episode of the group that is stored or marked."""

    async def raw_episodes(self, group_id: str, ids: Sequence[str]) -> tuple[Episode, ...]:
        """Those of the ids that are stored, in any order."""

    async def lease(
        self, group_id: str, lease: Lease, seconds: float, *, holds: bool = False
    ) -> Lease | None:
        """Take the lease or renew it for some seconds from now, by the clock of the database; None when that is done.
        The answer is another's lease when that has not run out."""

    async def end_lease(self, group_id: str, token: str) -> None:
        """Let go, if the lease is that of the token."""

    async def group_ids(self) -> tuple[str, ...]:
        """Every group of which anything is stored, in order."""
