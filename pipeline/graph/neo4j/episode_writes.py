"""The stage extract on Neo4j, and the states of episodes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime

from pipeline.cost.day_total import DayTotal
from pipeline.errors import NewerFormat
from pipeline.graph.extraction_port import ExtractionCommit, Received
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j import queries_episodes as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import EXTRACT, RESOLVE_ENTITIES, RESOLVE_FACTS, Lane, begin, mark_of
from pipeline.graph.neo4j.properties import episode_properties, vector
from pipeline.graph.neo4j.schema import SCHEMA_VERSION
from pipeline.graph.vector import Vector
from pipeline.model.episode import Episode, EpisodeState, Usage

_NEWEST_FIRST = (RESOLVE_FACTS, RESOLVE_ENTITIES, EXTRACT)
_STATE_AFTER = {
    EXTRACT: EpisodeState.extracted.value,
    RESOLVE_ENTITIES: EpisodeState.resolved.value,
    RESOLVE_FACTS: EpisodeState.committed.value,
}


@dataclass(frozen=True)
class EpisodeWrites:
    """Reads and commits of extract; `dimension` is the length of every vector."""

    connection: Neo4jConnection
    dimension: int

    async def receive(
        self, episode: Episode, embedding: Vector | None, context_size: int, at: datetime
    ) -> Received:
        """See GraphStore.receive: one round trip."""
        properties = episode_properties(episode, vector(embedding, self.dimension), at)
        params = {
            **Lane(episode.group_id, EXTRACT, episode.id).params,
            "properties": properties,
            "context_size": context_size,
            "known": SCHEMA_VERSION,
        }
        rows = await self.connection.write("receive", q.RECEIVE, params)
        if not rows:
            raise NewerFormat("the graph has a format that is newer than this program: use a newer program")
        row = rows[0]
        before = [Episode.model_validate_json(text) for text in row["context"]]
        return Received(
            stored=Episode.model_validate_json(row["episode"]),
            mark=mark_of(row),
            context=tuple(reversed(before)),
            state=EpisodeState(row["state"]),
        )

    async def commit(self, commit: ExtractionCommit) -> Mark:
        """See GraphStore.commit_extraction. The lane is locked but not fenced: the first mark stands."""
        lane = Lane(commit.episode.group_id, EXTRACT, commit.episode.id)
        async with begin(self.connection, lane, None) as open_commit:
            if open_commit.mark is not None:
                return replace(open_commit.mark, stood=True)
            await open_commit.finish(commit.state, commit.output, commit.usage, commit.at)
        return Mark(commit.output)

    async def spent(self, group_id: str, day: date) -> Usage:
        """See GraphStore.spent: one round trip, one node."""
        rows = await self.connection.run("spent", q.SPENT, {"group_id": group_id})
        return DayTotal.read(rows[0]["spent"] if rows else None).on(day)

    async def mark_dead(self, group_id: str, episode_id: str, reason: str) -> bool:
        """See GraphStore.mark_dead: one round trip."""
        params = {"group_id": group_id, "episode_id": episode_id, "reason": reason}
        rows = await self.connection.write("mark_dead", q.MARK_DEAD, params)
        return bool(rows[0]["dead"])

    async def hold(self, group_id: str, episode_id: str, reason: str) -> None:
        """See GraphStore.hold: one round trip."""
        params = {"group_id": group_id, "episode_id": episode_id, "reason": reason}
        await self.connection.write("hold", q.HOLD, params)

    async def revive(self, group_id: str, episode_id: str) -> None:
        """See GraphStore.revive: one round trip."""
        params = {
            "group_id": group_id,
            "episode_id": episode_id,
            "state_after": _STATE_AFTER,
            "newest_first": list(_NEWEST_FIRST),
        }
        await self.connection.write("revive", q.REVIVE, params)
