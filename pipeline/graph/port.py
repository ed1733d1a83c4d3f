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

from collections.abc import Sequence
from datetime import date, datetime
from typing import Protocol

from pipeline.graph.community_port import (
    CommunityCommit,
    CommunityGraph,
    CommunityQuery,
    CommunityTexts,
    CommunityView,
    GroupGraph,
)
from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityView
from pipeline.graph.extraction_port import ExtractionCommit, Received
from pipeline.graph.fact_port import FactCommit, FactGraph, FactQuery
from pipeline.graph.mark import Mark
from pipeline.graph.vector import Vector
from pipeline.model.episode import Episode, EpisodeRef, Usage
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence


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
