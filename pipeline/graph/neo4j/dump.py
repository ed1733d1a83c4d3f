"""Everything that Neo4j holds of one group, for comparing graphs."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.graph.digest import GroupDump
from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j import queries_dump as q
from pipeline.graph.neo4j.connection import Neo4jConnection, Row
from pipeline.timeline.evidence import Evidence


@dataclass(frozen=True)
class Neo4jDump:
    """Reads whole groups over an open connection."""

    connection: Neo4jConnection

    async def dump(self, group_id: str) -> GroupDump:
        """All of a group at once, in memory: six statements, each of which sees what is committed when it runs.

        A group that still takes in episodes may be seen half before and half after one. Raises Retryable when the
        database does not answer.
        """
        episodes = await self._rows(q.DUMP_EPISODES, group_id)
        entities = await self._rows(q.DUMP_ENTITIES, group_id)
        facts = await self._rows(q.DUMP_FACTS, group_id)
        evidence = await self._rows(q.DUMP_EVIDENCE, group_id)
        mentions = await self._rows(q.DUMP_MENTIONS, group_id)
        memberships = await self._rows(q.DUMP_MEMBERSHIPS, group_id)
        return GroupDump(
            group_id=group_id,
            episodes=tuple(codec.stored_episode(row) for row in episodes),
            entities=tuple(codec.entity(row["entity"]) for row in entities),
            facts=tuple(codec.fact(row) for row in facts),
            evidence=tuple(Evidence.model_validate_json(row["evidence"]) for row in evidence),
            mentions=tuple((row["owner"], row["entity"]) for row in mentions),
            memberships=tuple((row["owner"], row["entity"]) for row in memberships),
        )

    async def _rows(self, query: str, group_id: str) -> list[Row]:
        return await self.connection.run("dump", query, {"group_id": group_id})
