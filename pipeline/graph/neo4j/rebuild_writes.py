"""What a rebuild asks of Neo4j beside a curation: leases, what is known of episodes, and episodes that come back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.graph.ledger import FORGOTTEN, STAGES, KnownEpisode, Lease, Restored
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_rebuild as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import Commit
from pipeline.graph.neo4j.properties import episode_properties, vector
from pipeline.graph.neo4j.queries_curation import MARKS
from pipeline.model.episode import Episode, EpisodeState, Usage


@dataclass(frozen=True)
class RebuildWrites:
    """Reads and leases of rebuilds; `dimension` is the length of every vector."""

    connection: Neo4jConnection
    dimension: int

    async def known_episodes(self, group_id: str) -> tuple[KnownEpisode, ...]:
        """See RebuildStore.known_episodes. Marks are read last, so that they are at least as new as the states."""
        of = {"group_id": group_id}
        stored = {r["id"]: r for r in await self.connection.run("known_episodes", q.KNOWN_EPISODES, of)}
        stages: dict[str, set[str]] = defaultdict(set)
        for row in await self.connection.run("known_episodes", MARKS, of):
            if row["stage"] in (*STAGES, FORGOTTEN):
                stages[row["episode"]].add(row["stage"])
        known = []
        for name in sorted(stored.keys() | stages.keys()):
            row = stored.get(name, {})
            created, state = row.get("created_at"), row.get("state")
            known.append(
                KnownEpisode(
                    id=name,
                    stages=frozenset(stages[name]),
                    state=None if state is None else EpisodeState(state),
                    sequence=row.get("sequence") or 0,
                    created_at=None if created is None else codec.moment(created),
                    reason=row.get("reason"),
                    usage=Usage.model_validate_json(row.get("usage") or "{}"),
                )
            )
        return tuple(known)

    async def raw_episodes(self, group_id: str, ids: Sequence[str]) -> tuple[Episode, ...]:
        """See RebuildStore.raw_episodes: one round trip."""
        rows = await self.connection.run(
            "raw_episodes", q.RAW_EPISODES, {"group_id": group_id, "ids": list(ids)}
        )
        return tuple(Episode.model_validate_json(row["episode"]) for row in rows)

    async def lease(
        self, group_id: str, lease: Lease, seconds: float, *, holds: bool = False
    ) -> Lease | None:
        """See RebuildStore.lease: one round trip."""
        params = {
            "group_id": group_id,
            "token": lease.token,
            "holder": lease.holder,
            "millis": round(seconds * 1000),
            "holds": holds,
        }
        row = (await self.connection.write("lease", q.LEASE, params))[0]
        return Lease(row["token"], row["holder"]) if row["taken"] else None

    async def end_lease(self, group_id: str, token: str) -> None:
        """See RebuildStore.end_lease."""
        await self.connection.write("end_lease", q.END_LEASE, {"group_id": group_id, "token": token})

    async def group_ids(self) -> tuple[str, ...]:
        """See RebuildStore.group_ids."""
        return tuple(row["id"] for row in await self.connection.run("group_ids", q.GROUP_IDS, {}))

    async def restore(self, commit: Commit, restored: Sequence[Restored]) -> None:
        """Store what is missing of the episodes inside a commit, and set their marks and states."""
        if not restored:
            return
        episodes = [
            {
                "uuid": one.episode.id,
                "state": one.state.value,
                "reason": one.reason,
                "properties": {
                    **episode_properties(one.episode, vector(one.vector, self.dimension), one.created_at),
                    "fs_usage": one.usage.model_dump_json(),
                },
            }
            for one in sorted(restored, key=lambda one: one.episode.id)
        ]
        await commit.run(q.RESTORE_EPISODES, episodes=episodes)
        marks = [{"episode": one.episode.id, "stage": stage} for one in restored for stage in one.stages]
        await commit.run(q.RESTORE_MARKS, marks=marks)
