"""Neo4jGraphStore: the GraphStore on Neo4j, put together from one part per stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime

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
from pipeline.graph.neo4j.community_writes import CommunityWrites
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.curation_writes import CurationWrites
from pipeline.graph.neo4j.entity_writes import EntityWrites
from pipeline.graph.neo4j.episode_writes import EpisodeWrites
from pipeline.graph.neo4j.fact_writes import FactWrites
from pipeline.graph.neo4j.rebuild_writes import RebuildWrites
from pipeline.graph.neo4j.schema import open_graph, ping_schema
from pipeline.graph.vector import Vector
from pipeline.model.episode import Episode, EpisodeRef, Usage
from pipeline.model.fact import Fact
from pipeline.observer import Observer, SilentObserver
from pipeline.timeline.evidence import Evidence


class Neo4jGraphStore:
    """GraphStore on Neo4j 2026.x, Community edition suffices.

    Every view is one request, every commit one transaction with a fixed number of statements, whatever the number of
    mentions and statements. An error that is neither Retryable, Fenced nor SettingError is a bug or a poisoned input.

    Args:
        uri: such as bolt://host:7687 or neo4j+s://host.
        user, password: None for a server without authentication.
        dimension: length of every vector; the graph keeps the one that it was made with.
        clock: which facts are current, for the weights between entities.
    """

    def __init__(
        self,
        uri: str,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str = "neo4j",
        dimension: int,
        observer: Observer | None = None,
        pool_size: int = 50,
        clock: Clock = system_clock,
    ) -> None:
        self._connection = Neo4jConnection(
            uri, user, password, database, observer or SilentObserver(), pool_size
        )
        self._dimension = dimension
        self._episodes = EpisodeWrites(self._connection, dimension)
        self._entities = EntityWrites(self._connection, dimension)
        self._facts = FactWrites(self._connection, dimension)
        self._communities = CommunityWrites(self._connection, dimension, clock)
        self._curation = CurationWrites(self._connection, dimension)
        self._rebuilds = RebuildWrites(self._connection, dimension)

    async def open(self) -> None:
        """Connect, create the schema and wait until its indexes are online.

        Raises SettingError when the graph has another vector dimension or a newer schema, Retryable when the
        database does not answer. Several processes may do this at once.
        """
        await open_graph(self._connection, self._dimension)

    async def close(self) -> None:
        """Let go of connections."""
        await self._connection.close()

    async def ping(self) -> None:
        """Retryable unless the database answers and every index is online. One round trip."""
        await ping_schema(self._connection)

    async def receive(
        self, episode: Episode, embedding: Vector | None, context_size: int, at: datetime
    ) -> Received:
        """See GraphStore."""
        return await self._episodes.receive(episode, embedding, context_size, at)

    async def commit_extraction(self, commit: ExtractionCommit) -> Mark:
        """See GraphStore."""
        return await self._episodes.commit(commit)

    async def entity_view(self, query: EntityQuery) -> EntityView:
        """See GraphStore."""
        return await self._entities.view(query)

    async def commit_entities(self, commit: EntityCommit) -> None:
        """See GraphStore."""
        await self._entities.commit(commit)

    async def fact_graph(self, query: FactQuery) -> FactGraph:
        """See GraphStore."""
        return await self._facts.graph(query)

    async def facts_of(self, group_id: str, entity_ids: Sequence[str]) -> tuple[Fact, ...]:
        """See GraphStore."""
        return await self._facts.of_entities(group_id, entity_ids)

    async def evidence(self, group_id: str, ids: Sequence[str]) -> tuple[Evidence, ...]:
        """See GraphStore."""
        return await self._facts.by_id(group_id, ids)

    async def commit_facts(self, commit: FactCommit) -> None:
        """See GraphStore."""
        await self._facts.commit(commit)

    async def settle(self, episode: EpisodeRef) -> None:
        """See GraphStore."""
        await self._facts.settle(episode)

    async def community_graph(self, query: CommunityQuery) -> CommunityGraph:
        """See GraphStore."""
        return await self._communities.graph(query)

    async def commit_communities(self, commit: CommunityCommit) -> None:
        """See GraphStore."""
        await self._communities.commit(commit)

    async def communities(self, group_id: str, ids: Sequence[str], member_limit: int) -> CommunityView:
        """See GraphStore."""
        return await self._communities.view(group_id, ids, member_limit)

    async def describe_communities(self, texts: CommunityTexts) -> None:
        """See GraphStore."""
        await self._communities.describe(texts)

    async def group_graph(self, group_id: str) -> GroupGraph:
        """See GraphStore."""
        return await self._communities.group(group_id)

    async def mark_dead(self, group_id: str, episode_id: str, reason: str) -> bool:
        """See GraphStore."""
        return await self._episodes.mark_dead(group_id, episode_id, reason)

    async def hold(self, group_id: str, episode_id: str, reason: str) -> None:
        """See GraphStore."""
        await self._episodes.hold(group_id, episode_id, reason)

    async def revive(self, group_id: str, episode_id: str) -> None:
        """See GraphStore."""
        await self._episodes.revive(group_id, episode_id)

    async def spent(self, group_id: str, day: date) -> Usage:
        """See GraphStore."""
        return await self._episodes.spent(group_id, day)

    async def ledger(self, group_id: str) -> Ledger:
        """See CurationStore."""
        return await self._curation.ledger(group_id)

    async def commit_curation(self, commit: CurationCommit) -> None:
        """See CurationStore."""
        await self._curation.commit(commit)

    async def erase_group(self, group_id: str, lanes: Mapping[str, int], notice: tuple[str, str]) -> None:
        """See CurationStore."""
        await self._curation.erase(group_id, lanes, notice)

    async def drop_marks(self, group_id: str) -> None:
        """See CurationStore."""
        await self._curation.drop_marks(group_id)

    async def notice_sent(self, group_id: str, name: str) -> None:
        """See CurationStore."""
        await self._curation.notice_sent(group_id, name)

    async def traces(self, group_id: str, text: str) -> tuple[Trace, ...]:
        """See CurationStore."""
        return await self._curation.traces(group_id, text)

    async def known_episodes(self, group_id: str) -> tuple[KnownEpisode, ...]:
        """See RebuildStore."""
        return await self._rebuilds.known_episodes(group_id)

    async def raw_episodes(self, group_id: str, ids: Sequence[str]) -> tuple[Episode, ...]:
        """See RebuildStore."""
        return await self._rebuilds.raw_episodes(group_id, ids)

    async def lease(
        self, group_id: str, lease: Lease, seconds: float, *, holds: bool = False
    ) -> Lease | None:
        """See RebuildStore."""
        return await self._rebuilds.lease(group_id, lease, seconds, holds=holds)

    async def end_lease(self, group_id: str, token: str) -> None:
        """See RebuildStore."""
        await self._rebuilds.end_lease(group_id, token)

    async def group_ids(self) -> tuple[str, ...]:
        """See RebuildStore."""
        return await self._rebuilds.group_ids()
