"""GraphStore: what the stages ask of a database. It speaks of episodes, entities, evidence and candidates.

The discipline that every store keeps, because delivery rests on it:

- Each `commit_*` is one transaction. It writes the stage's data, the stage's mark for the episode with the output
  that is sent on, the new state of the episode, and raises the version of the (group, stage) lane by one.
- A commit whose `lane_version` is not the stored one raises `Fenced` and writes nothing: another worker has
  committed since the view was read.
- A view of an episode whose mark is set carries that mark; the stage then sends the same output on and does nothing.
- A connection that is lost, a deadlock, a leader change: `Retryable`. The outcome of a commit that failed so may be
  either; the next view tells, since it finds the mark or does not.
- When a stage's mark is written, the output kept under the mark of the stage before is dropped; only a mark without
  output stays (its output has provably been received).
- Every read and write is limited to one group.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Protocol

from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeRef, EpisodeState, Usage
from pipeline.model.fact import Fact
from pipeline.model.provenance import Merge, Told
from pipeline.timeline.evidence import Evidence

Vector = Sequence[float]

SCANNED_FACTS = 1000
"""How many facts of one entity are compared with a statement, whatever the size of the graph."""
SOURCE_CHARACTERS = 500
"""How much of an episode's content goes with a fact."""


@dataclass(frozen=True)
class Mark:
    """That a stage has committed an episode, and the JSON text of what it sends on (None once it was received).

    `stood` is True in the answer to a commit that found the mark there: the episode was committed before.
    `judged` is the record of what a judge decided (see `JudgedEpisode`), which stays as long as the mark.
    `forgotten`: the episode was taken back, and the mark only keeps it from coming again.
    """

    output: str | None
    stood: bool = field(default=False, compare=False)
    judged: str | None = None
    forgotten: bool = False


@dataclass(frozen=True)
class Received:
    """Answer to `receive`: the raw episode is stored, now or before.

    `context` are the episodes of the same thread just before it (reference time not later), oldest first.
    `stored` is the episode as it stands in the graph: under a repeated id the first content wins.
    `state` is how far that one has come. `spent` is what it has cost to get here; a store knows nothing of that.
    """

    stored: Episode
    mark: Mark | None
    context: tuple[Episode, ...] = ()
    state: EpisodeState = EpisodeState.received
    spent: Usage = field(default_factory=Usage)


@dataclass(frozen=True)
class ExtractionCommit:
    """What the extract stage commits. Without entities and statements the state is `skipped` and output is None.

    `at` None counts the usage to no day of the group.
    """

    episode: EpisodeRef
    state: EpisodeState
    output: str | None
    usage: Usage
    at: datetime | None = None


@dataclass(frozen=True)
class EntityQuery:
    """Which entities may be meant by the mentions of an episode.

    `keys[i]`, `texts[i]` and `vectors[i]` belong to mention i: its keys (name and aliases), its name as search
    terms, and its embedding (None: no vector candidates are wanted for this mention).
    """

    episode: EpisodeRef
    keys: tuple[tuple[str, ...], ...]
    texts: tuple[str, ...]
    vectors: tuple[Vector | None, ...]
    limit: int = 10


@dataclass(frozen=True)
class EntityView:
    """Answer: entities by key (`by_key[i]`, all types) and look-alikes (`similar[i]`, best first, at most `limit`)."""

    mark: Mark | None
    lane_version: int
    by_key: tuple[tuple[Entity, ...], ...] = ()
    similar: tuple[tuple[Entity, ...], ...] = ()


@dataclass(frozen=True)
class EntityWrite:
    """An entity to create or to overwrite, with the embedding of its name when that is new (None: keep)."""

    entity: Entity
    name_embedding: Vector | None = None


@dataclass(frozen=True)
class EntityCommit:
    """What the resolve_entities stage commits: entities, MENTIONS from the episode to `mentioned`, output, usage.

    The state becomes `resolved`. `judged` is kept under the mark. `told` has, by entity id, what each mention told of it, in the order in which the
    entity was made of them; `merges` are joins that a judge made.
    """

    episode: EpisodeRef
    lane_version: int
    entities: tuple[EntityWrite, ...]
    mentioned: tuple[str, ...]
    output: str
    usage: Usage
    at: datetime
    told: Mapping[str, tuple[Told, ...]] = field(default_factory=dict)
    merges: tuple[Merge, ...] = ()
    judged: str | None = None


@dataclass(frozen=True)
class Triplet:
    """A (subject, relation, object) that an episode speaks of; `whole_slot` when its cardinality is one.

    `symmetric`: the relation holds from both ends, so each end has a slot of its own.
    """

    subject: str
    relation: str
    object: str
    whole_slot: bool
    symmetric: bool = False


@dataclass(frozen=True)
class Look:
    """A look for facts that may say the same as a statement, or contradict it.

    Found are facts between `subject` and `object`, in either direction, and, with a `vector`, those of either end
    that hold at `at` (timeline T), nearest to the vector first.
    """

    subject: str
    object: str
    at: datetime
    vector: Vector | None = None


@dataclass(frozen=True)
class NearFact:
    """A fact that a look found, with the beginning of the content of the last episode that supports it."""

    fact: Fact
    source: str


@dataclass(frozen=True)
class FactQuery:
    """What the resolve_facts stage needs to know before it decides. Each look finds at most `near_limit` facts."""

    episode: EpisodeRef
    triplets: tuple[Triplet, ...]
    entity_ids: tuple[str, ...]
    looks: tuple[Look, ...] = ()
    near_limit: int = 10


@dataclass(frozen=True)
class FactGraph:
    """Answer to a FactQuery.

    `evidence`: all evidence of each triplet, and for a whole slot also that of every triplet of the same
    (subject, relation) of which some evidence has cardinality `one`; for a symmetric whole slot, that of every
    symmetric triplet of the relation that shares an end and of which some evidence has cardinality `one`. `facts`:
    every fact (believed or not) of the triplets that occur in `evidence`. `entities`: those asked for and the ends of
    `facts`, by id.
    `near[i]`: what look i found, all of it believed now: facts of the pair first, newest first, then of either end
    (of which at most `SCANNED_FACTS` are compared), most similar first. `source`: the beginning of the content of the
    episode itself, when there are looks. A beginning has at most `SOURCE_CHARACTERS`.
    """

    mark: Mark | None
    lane_version: int
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[Fact, ...] = ()
    entities: dict[str, Entity] = field(default_factory=dict)
    near: tuple[tuple[NearFact, ...], ...] = ()
    source: str = ""


@dataclass(frozen=True)
class FactWrite:
    """A fact to create or overwrite (all of it, with its history), with its embedding when it is new (None: keep)."""

    fact: Fact
    fact_embedding: Vector | None = None


@dataclass(frozen=True)
class FactCommit:
    """What the resolve_facts stage commits. The state becomes `committed` with `settle`. `judged` is kept under the
    mark."""

    episode: EpisodeRef
    lane_version: int
    evidence: tuple[Evidence, ...]
    facts: tuple[FactWrite, ...]
    entities: tuple[EntityWrite, ...]
    output: str
    usage: Usage
    at: datetime
    judged: str | None = None


@dataclass(frozen=True)
class CommunityQuery:
    """The entities that an episode's changes touched."""

    episode: EpisodeRef
    entity_ids: tuple[str, ...]
    neighbour_limit: int = 1000
    member_limit: int = 200


@dataclass(frozen=True)
class Neighbourhood:
    """An entity with its community and how many current facts join it to its neighbours.

    `neighbours` maps entity id to (number of current facts between the two, community id of the neighbour or None).
    """

    entity: Entity
    neighbours: dict[str, tuple[int, str | None]]


@dataclass(frozen=True)
class CommunityGraph:
    """Answer to a CommunityQuery: the neighbourhoods asked for, and the communities that occur in them.

    `members` has, by community id, its members (at most `member_limit`, those with most facts first).
    """

    mark: Mark | None
    lane_version: int
    neighbourhoods: dict[str, Neighbourhood] = field(default_factory=dict)
    communities: dict[str, Community] = field(default_factory=dict)
    members: dict[str, tuple[Entity, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CommunityWrite:
    """A community to create or overwrite (name, summary); memberships are written apart."""

    community: Community
    name_embedding: Vector | None = None


@dataclass(frozen=True)
class CommunityCommit:
    """What the update_communities stage commits.

    `moves` maps entity id to its community id (None: to no community). Communities left without members are removed.
    With `episode` None it is a rebuild of the whole group: every other community of the group is removed.
    """

    group_id: str
    episode: EpisodeRef | None
    lane_version: int
    communities: tuple[CommunityWrite, ...]
    moves: dict[str, str | None]
    usage: Usage
    at: datetime


@dataclass(frozen=True)
class CommunityView:
    """Some communities as they stand, with their members (those with most current facts first); what is gone is not
    there."""

    lane_version: int
    communities: dict[str, Community] = field(default_factory=dict)
    members: dict[str, tuple[Entity, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CommunityTexts:
    """Other names and summaries for communities that stand; members stay, and what is gone stays gone."""

    group_id: str
    lane_version: int
    communities: tuple[CommunityWrite, ...]
    usage: Usage
    at: datetime


@dataclass(frozen=True)
class GroupGraph:
    """All entities of a group and the weights of the current facts between them; for a rebuild of communities."""

    lane_version: int
    entities: tuple[Entity, ...]
    edges: tuple[tuple[str, str, int], ...]


class GraphStore(Protocol):
    """Reads and commits of the stages. See the module for what every store promises."""

    async def open(self) -> None:
        """Connect, create the schema and wait until its indexes are online. SettingError when the stored vector
        dimension differs from the configured one."""

    async def close(self) -> None:
        """Let go of connections."""

    async def ping(self) -> None:
        """Touch the database and its indexes; Retryable when it does not answer."""

    async def receive(
        self, episode: Episode, embedding: Vector | None, context_size: int, at: datetime
    ) -> Received:
        """Store the raw episode unless its id is known (state `received`), searchable at once, and read its thread.

        An episode that was forgotten is not stored again: the answer is a mark without output."""

    async def commit_extraction(self, commit: ExtractionCommit) -> Mark:
        """Write the mark of the extract stage unless there is one; answers the mark that stands. The first wins, so a
        repeat by another worker sends on what was sent before."""

    async def entity_view(self, query: EntityQuery) -> EntityView:
        """Entities that the mentions may mean. The number of requests does not depend on the number of mentions."""

    async def commit_entities(self, commit: EntityCommit) -> None:
        """One transaction, fenced. Poison when the episode, or an entity that it mentions, is not in the graph."""

    async def fact_graph(self, query: FactQuery) -> FactGraph:
        """Evidence, facts and entities that the statements touch."""

    async def facts_of(self, group_id: str, entity_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Every fact, believed or not, that has one of the entities at an end; in the order of their ids."""

    async def evidence(self, group_id: str, ids: Sequence[str]) -> tuple[Evidence, ...]:
        """The evidence of these ids, as far as it is there."""

    async def commit_facts(self, commit: FactCommit) -> None:
        """One transaction, fenced. The state stays as it is: see `settle`."""

    async def settle(self, episode: EpisodeRef) -> None:
        """Set the state `committed` of an episode whose resolve_facts mark is set; a repeat is a no-op.

        A step of its own, after `commit_facts` has returned: a database may show a committed row to readers before
        its indexes can find it, and `committed` promises that every later search sees the facts.
        """

    async def community_graph(self, query: CommunityQuery) -> CommunityGraph:
        """Neighbourhoods and communities of the touched entities."""

    async def commit_communities(self, commit: CommunityCommit) -> None:
        """One transaction, fenced."""

    async def communities(self, group_id: str, ids: Sequence[str], member_limit: int) -> CommunityView:
        """Communities by id, each with at most `member_limit` members."""

    async def describe_communities(self, texts: CommunityTexts) -> None:
        """One transaction, fenced by the lane of update_communities; the usage counts to the group's day."""

    async def group_graph(self, group_id: str) -> GroupGraph:
        """The whole group, for a rebuild of its communities."""

    async def mark_dead(self, group_id: str, episode_id: str, reason: str) -> bool:
        """Set the state `dead` with its reason, if the episode is stored and not final; nothing otherwise.

        False when the episode stands as committed or skipped: then an event about it has died, not the episode.
        """

    async def hold(self, group_id: str, episode_id: str, reason: str) -> None:
        """Say for what a `received` episode waits; its next state forgets it. Nothing for one that has come further."""

    async def revive(self, group_id: str, episode_id: str) -> None:
        """Set a dead episode back to the state that its marks say, before it is replayed."""

    async def spent(self, group_id: str, day: date) -> Usage:
        """What the commits of a day (UTC, by their `at`) have cost a group; only the newest day is kept."""
