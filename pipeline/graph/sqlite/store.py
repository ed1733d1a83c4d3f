"""SqliteGraphStore: the write side of the graph in one file."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from pathlib import Path

from pipeline.clock import Clock, system_clock
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
from pipeline.graph.ledger import CurationCommit, KnownEpisode, Lease, Ledger, Trace
from pipeline.graph.mark import Mark
from pipeline.graph.sqlite import (
    communities,
    curation,
    entities,
    episodes,
    facts,
    leases,
    rebuilds,
    schema,
    traces,
)
from pipeline.graph.sqlite.codec import micros
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.graph.vector import Vector
from pipeline.model.episode import Episode, EpisodeRef, Usage
from pipeline.model.fact import Fact
from pipeline.observer import Observer, SilentObserver
from pipeline.timeline.evidence import Evidence


class SqliteGraphStore:
    """The GraphStore port over a SQLite file in WAL mode.

    One process writes at a time, and waits up to `busy_seconds` for another (then Retryable); any number of readers
    goes on meanwhile. All work runs in one thread of its own. An acknowledged commit survives a power cut.

    Args:
        path: the file; it is created when its folder exists. Two more (-wal, -shm) stand beside it while it is open.
        dimension: length of the embeddings; SettingError from `open` when the file holds others.
        observer: hears of each call with its time.
        clock: decides which facts are current in the views of communities.
        busy_seconds: how long a call waits for another process's transaction.
        durable: False lets a power cut take the last commits; for a file that can be made again.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        dimension: int,
        observer: Observer | None = None,
        clock: Clock = system_clock,
        busy_seconds: float = 10.0,
        durable: bool = True,
    ) -> None:
        self._dimension = dimension
        self._clock = clock
        self._vectors = VectorIndex(dimension)
        self._database = Database(
            Path(path),
            create=True,
            observer=observer or SilentObserver(),
            busy_seconds=busy_seconds,
            durable=durable,
        )

    async def open(self) -> None:
        """Create or check the file. Raises SettingError when it cannot be used, Retryable when it is locked."""
        await self._database.open_with(lambda c: schema.create(c, self._dimension))

    async def close(self) -> None:
        """Let go of the file."""
        await self._database.close()

    async def ping(self) -> None:
        """Read the file's version."""
        await self._database.read("ping", schema.check)

    async def receive(
        self, episode: Episode, embedding: Vector | None, context_size: int, at: datetime
    ) -> Received:
        """Store the raw episode unless its id is known, and read its thread."""

        def work(connection: sqlite3.Connection) -> Received:
            return episodes.receive(connection, self._dimension, episode, embedding, context_size, at)

        return await self._database.write("receive", work)

    async def commit_extraction(self, commit: ExtractionCommit) -> Mark:
        """Write the mark of the extract stage unless there is one."""
        return await self._database.write(
            "commit_extraction", lambda c: episodes.commit_extraction(c, commit)
        )

    async def entity_view(self, query: EntityQuery) -> EntityView:
        """Entities that the mentions may mean."""
        return await self._database.read(
            "entity_view", lambda c: entities.entity_view(c, self._vectors, query)
        )

    async def commit_entities(self, commit: EntityCommit) -> None:
        """One transaction, fenced."""
        await self._database.write(
            "commit_entities", lambda c: entities.commit_entities(c, self._dimension, commit)
        )

    async def fact_graph(self, query: FactQuery) -> FactGraph:
        """Evidence, facts and entities that the statements touch."""
        return await self._database.read("fact_graph", lambda c: facts.fact_graph(c, self._vectors, query))

    async def facts_of(self, group_id: str, entity_ids: Sequence[str]) -> tuple[Fact, ...]:
        """Every fact that has one of the entities at an end."""
        return await self._database.read("facts_of", lambda c: facts.facts_of(c, group_id, entity_ids))

    async def evidence(self, group_id: str, ids: Sequence[str]) -> tuple[Evidence, ...]:
        """The evidence of these ids, as far as it is there."""
        return await self._database.read("evidence", lambda c: facts.evidence_by_id(c, group_id, ids))

    async def commit_facts(self, commit: FactCommit) -> None:
        """One transaction, fenced."""
        await self._database.write("commit_facts", lambda c: facts.commit_facts(c, self._dimension, commit))

    async def settle(self, episode: EpisodeRef) -> None:
        """Set the state `committed` of an episode whose facts are committed."""
        await self._database.write("settle", lambda c: facts.settle(c, episode))

    async def community_graph(self, query: CommunityQuery) -> CommunityGraph:
        """Neighbourhoods and communities of the touched entities."""
        now = micros(self._clock())
        return await self._database.read(
            "community_graph", lambda c: communities.community_graph(c, query, now)
        )

    async def commit_communities(self, commit: CommunityCommit) -> None:
        """One transaction, fenced."""

        def work(connection: sqlite3.Connection) -> None:
            communities.commit_communities(connection, self._dimension, commit)

        await self._database.write("commit_communities", work)

    async def communities(self, group_id: str, ids: Sequence[str], member_limit: int) -> CommunityView:
        """Communities by id with their members."""
        now = micros(self._clock())
        return await self._database.read(
            "communities", lambda c: communities.community_view(c, group_id, ids, member_limit, now)
        )

    async def describe_communities(self, texts: CommunityTexts) -> None:
        """One transaction, fenced."""
        await self._database.write(
            "describe_communities", lambda c: communities.describe(c, self._dimension, texts)
        )

    async def group_graph(self, group_id: str) -> GroupGraph:
        """The whole group, for a rebuild of its communities."""
        now = micros(self._clock())
        return await self._database.read("group_graph", lambda c: communities.group_graph(c, group_id, now))

    async def mark_dead(self, group_id: str, episode_id: str, reason: str) -> bool:
        """Set the state `dead`, if the episode is stored and not final."""
        return await self._database.write(
            "mark_dead", lambda c: episodes.mark_dead(c, group_id, episode_id, reason)
        )

    async def hold(self, group_id: str, episode_id: str, reason: str) -> None:
        """Say for what a received episode waits."""
        await self._database.write("hold", lambda c: episodes.hold(c, group_id, episode_id, reason))

    async def revive(self, group_id: str, episode_id: str) -> None:
        """Set a dead episode back to the state that its marks say."""
        await self._database.write("revive", lambda c: episodes.revive(c, group_id, episode_id))

    async def spent(self, group_id: str, day: date) -> Usage:
        """See GraphStore."""
        return await self._database.read("spent", lambda c: episodes.spent(c, group_id, day))

    async def ledger(self, group_id: str) -> Ledger:
        """The whole group, for a curation."""
        return await self._database.read("ledger", lambda c: curation.ledger(c, group_id))

    async def commit_curation(self, commit: CurationCommit) -> None:
        """One transaction, fenced against every lane of the group. What goes is overwritten in the file."""
        await self._database.write(
            "commit_curation", lambda c: curation.commit_curation(c, self._dimension, commit)
        )
        await self._database.empty_journal()

    async def erase_group(self, group_id: str, lanes: Mapping[str, int], notice: tuple[str, str]) -> None:
        """Remove everything of a group but tombstones and the notice."""
        await self._database.write("erase_group", lambda c: curation.erase_group(c, group_id, lanes, notice))
        await self._database.empty_journal()

    async def drop_marks(self, group_id: str) -> None:
        """Delete the marks of an erased group, tombstones too."""
        await self._database.write("drop_marks", lambda c: curation.drop_marks(c, group_id))

    async def notice_sent(self, group_id: str, name: str) -> None:
        """Drop a notice that was published, and what the log still holds of it."""
        await self._database.write("notice_sent", lambda c: curation.notice_sent(c, group_id, name))
        await self._database.empty_journal()

    async def traces(self, group_id: str, text: str) -> tuple[Trace, ...]:
        """Where a text stands in the rows of a group."""
        return await self._database.read("traces", lambda c: traces.traces(c, group_id, text))

    async def known_episodes(self, group_id: str) -> tuple[KnownEpisode, ...]:
        """Every episode of a group that is stored or marked."""
        return await self._database.read("known_episodes", lambda c: rebuilds.known_episodes(c, group_id))

    async def raw_episodes(self, group_id: str, ids: Sequence[str]) -> tuple[Episode, ...]:
        """Those of the ids that are stored."""
        return await self._database.read("raw_episodes", lambda c: rebuilds.raw_episodes(c, group_id, ids))

    async def lease(
        self, group_id: str, lease: Lease, seconds: float, *, holds: bool = False
    ) -> Lease | None:
        """Take or renew the lease of a group; another's when that has not run out."""
        return await self._database.write("lease", lambda c: leases.lease(c, group_id, lease, seconds, holds))

    async def end_lease(self, group_id: str, token: str) -> None:
        """Let go of one's own lease."""
        await self._database.write("end_lease", lambda c: leases.end_lease(c, group_id, token))

    async def group_ids(self) -> tuple[str, ...]:
        """Groups of which anything is stored."""
        return await self._database.read("group_ids", rebuilds.group_ids)
