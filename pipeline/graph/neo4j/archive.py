"""Groups in Neo4j as records, and records into Neo4j."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TypeVar

from pipeline.errors import Fenced, Poison
from pipeline.graph.archive import (
    CommunityRecord,
    ContributionRecord,
    EntityRecord,
    EpisodeRecord,
    EvidenceRecord,
    FactRecord,
    GroupRecord,
    MarkRecord,
    MergeRecord,
    Record,
    packed,
    unpacked,
)
from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.ledger import STAGES
from pipeline.graph.neo4j import codec, queries_communities, queries_entities, queries_facts
from pipeline.graph.neo4j import queries_archive as q
from pipeline.graph.neo4j import queries_curation as curation
from pipeline.graph.neo4j.connection import Neo4jConnection, Row, Transaction
from pipeline.graph.neo4j.lane import WHOLE
from pipeline.graph.neo4j.properties import (
    Properties,
    community_parameters,
    contribution_parameters,
    created_parameters,
    entity_parameters,
    episode_properties,
    evidence_parameters,
    fact_parameters,
    merge_parameters,
    move_parameters,
    vector,
)
from pipeline.graph.neo4j.schema import open_graph, ping_schema
from pipeline.model.provenance import Merge
from pipeline.timeline.evidence import Evidence

R = TypeVar("R", bound=Record)


class Neo4jArchiveSource:
    """Tells the groups of a database. There are no snapshots here: see `tell`."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    async def open(self) -> None:
        """See ArchiveSource."""
        await self._connection.open()

    async def close(self) -> None:
        """See ArchiveSource."""
        await self._connection.close()

    async def groups(self) -> list[str]:
        """Those that this program has written."""
        return sorted(row["id"] for row in await self._connection.run("groups", q.GROUPS, {}))

    async def dimension(self) -> int:
        """Retryable unless every index is online."""
        return await ping_schema(self._connection)

    async def model(self) -> None:
        """It is not kept in the database."""
        return None

    async def tell(self, group_id: str, on_record: Callable[[Record], None]) -> None:
        """Raises Fenced at the end when anything was committed in the group meanwhile."""
        of = {"group_id": group_id}
        before = await self._versions(group_id)
        spent = next((row["spent"] for row in before if row["stage"] == WHOLE), None)
        lanes = {row["stage"]: row["version"] for row in before if row["stage"] in STAGES}
        on_record(GroupRecord(id=group_id, lanes=lanes, spent=spent))
        for query, read in _READS:
            async for row in self._connection.stream("archive", query, of):
                on_record(read(row))
        if await self._versions(group_id) != before:
            raise Fenced(f"group {group_id!r} has changed while it was read")

    async def _versions(self, group_id: str) -> list[Row]:
        rows = await self._connection.run("archive", q.VERSIONS, {"group_id": group_id})
        return sorted(rows, key=lambda row: str(row["stage"]))


class Neo4jArchiveTarget:
    """Takes records into a database. The group takes in nothing else meanwhile.

    Args:
        connection: opened and closed with this.
        dimension: length of the vectors; SettingError from `open` when the database is set up for others.
    """

    def __init__(self, connection: Neo4jConnection, dimension: int) -> None:
        self._connection = connection
        self._dimension = dimension

    async def open(self) -> None:
        """See ArchiveTarget."""
        await open_graph(self._connection, self._dimension)

    async def close(self) -> None:
        """See ArchiveTarget."""
        await self._connection.close()

    async def occupied(self, groups: Sequence[str]) -> list[str]:
        """See ArchiveTarget."""
        rows = await self._connection.run("archive", q.OCCUPIED, {"groups": list(groups)})
        return [row["id"] for row in rows]

    async def restored(self, name: str) -> int:
        """See ArchiveTarget."""
        return int((await self._connection.run("archive", q.RESTORED, {"name": _node(name)}))[0]["done"])

    async def restore(
        self, name: str, group_id: str, chunk: Sequence[Record], done: int, at: datetime
    ) -> None:
        """See ArchiveTarget."""
        async with self._connection.transaction("restore") as open_:
            await open_.run(q.LOCK_GROUP, {"group_id": group_id})
            await _Restoring(open_, group_id, self._dimension, at).put(chunk)
            await open_.run(q.SET_RESTORED, {"name": _node(name), "done": done})


class _Restoring:
    """One transaction of a restore."""

    def __init__(self, transaction: Transaction, group_id: str, dimension: int, at: datetime) -> None:
        self._transaction = transaction
        self._group_id = group_id
        self._dimension = dimension
        self._at = at

    async def put(self, chunk: Sequence[Record]) -> None:
        for group in _of(chunk, GroupRecord):
            lanes = [{"stage": stage, "version": version} for stage, version in group.lanes.items()]
            await self._run(q.SET_LANES, lanes=lanes or [{"stage": WHOLE, "version": 0}], spent=group.spent)
        if episodes := [self._episode(record) for record in _of(chunk, EpisodeRecord)]:
            await self._run(curation.ADD_EPISODES, episodes=episodes)
        if communities := [
            community_parameters(CommunityWrite(r.community, _values(r.vector)), self._dimension)
            for r in _of(chunk, CommunityRecord)
        ]:
            await self._run(queries_communities.WRITE_COMMUNITIES, communities=communities)
        await self._entities(_of(chunk, EntityRecord))
        if mentions := [
            contribution_parameters(self._group_id, r.contribution) for r in _of(chunk, ContributionRecord)
        ]:
            rows = await self._run(curation.WRITE_CONTRIBUTIONS, mentions=mentions)
            _all_there(
                rows[0]["written"], mentions, "an episode or an entity that it mentions", "contribution"
            )
        if evidence := [evidence_parameters(r.evidence) for r in _of(chunk, EvidenceRecord)]:
            await self._run(queries_facts.WRITE_EVIDENCE, evidence=evidence)
        if facts := [
            fact_parameters(FactWrite(r.fact, _values(r.vector)), self._dimension, self._at)
            for r in _of(chunk, FactRecord)
        ]:
            rows = await self._run(queries_facts.WRITE_FACTS, facts=facts)
            _all_there(rows[0]["written"], facts, "an entity that a fact joins", "fact")
        if merges := [merge_parameters(r.merge) for r in _of(chunk, MergeRecord)]:
            await self._run(queries_entities.WRITE_MERGES, merges=merges)
        if marks := [r.model_dump(exclude={"kind"}) for r in _of(chunk, MarkRecord)]:
            await self._run(q.SET_MARKS, marks=marks)

    async def _entities(self, records: Sequence[EntityRecord]) -> None:
        if not records:
            return
        entities = [
            entity_parameters(EntityWrite(r.entity, _values(r.vector)), self._dimension) for r in records
        ]
        await self._run(queries_entities.WRITE_ENTITIES, entities=entities)
        await self._run(curation.SET_CREATED, entities=[created_parameters(e) for e in entities])
        moves = [
            move_parameters(self._group_id, r.entity.id, r.entity.community_id)
            for r in records
            if r.entity.community_id is not None
        ]
        if moves:
            row = (await self._run(queries_communities.MOVE_MEMBERS, moves=moves, at=self._at))[0]
            _all_there(row["placed"], moves, "a community", "entity.community_id")

    def _episode(self, record: EpisodeRecord) -> Properties:
        embedding = vector(_values(record.vector), self._dimension)
        return {
            "uuid": record.episode.id,
            "properties": {
                **episode_properties(record.episode, embedding, record.created_at),
                "fs_state": record.state.value,
                "fs_usage": record.usage.model_dump_json(),
                "fs_reason": record.reason,
            },
        }

    async def _run(self, query: str, **params: object) -> list[Row]:
        return await self._transaction.run(query, {"group_id": self._group_id, **params})


def _of(chunk: Sequence[Record], kind: type[R]) -> list[R]:
    return [record for record in chunk if isinstance(record, kind)]


def _all_there(written: int, wanted: Sequence[object], what: str, field: str) -> None:
    if written != len(wanted):
        raise Poison(f"{what} is not in the graph", field)


def _values(text: str | None) -> list[float] | None:
    return None if text is None else unpacked(text)


def _node(name: str) -> str:
    return f"archive {name}"


def _text(values: Sequence[float] | None) -> str | None:
    return None if values is None else packed(values)


def _episode(row: Row) -> Record:
    stored = codec.stored_episode(row)
    return EpisodeRecord(
        episode=stored.episode,
        state=stored.state,
        reason=stored.reason,
        usage=stored.usage,
        created_at=stored.created_at,
        vector=_text(row["vector"]),
    )


def _community(row: Row) -> Record:
    return CommunityRecord(community=codec.community({**row, "members": ()}), vector=_text(row["vector"]))


def _entity(row: Row) -> Record:
    return EntityRecord(entity=codec.entity(row["entity"]), vector=_text(row["vector"]))


def _contribution(row: Row) -> Record:
    return ContributionRecord(contribution=codec.contribution(row))


def _evidence(row: Row) -> Record:
    return EvidenceRecord(evidence=Evidence.model_validate_json(row["evidence"]))


def _fact(row: Row) -> Record:
    return FactRecord(fact=codec.fact(row), vector=_text(row["vector"]))


def _merge(row: Row) -> Record:
    return MergeRecord(merge=Merge.model_validate_json(row["json"]))


def _mark(row: Row) -> Record:
    return MarkRecord(**row)


_READS: tuple[tuple[str, Callable[[Row], Record]], ...] = (
    (q.EPISODES, _episode),
    (q.COMMUNITIES, _community),
    (q.ENTITIES, _entity),
    (q.CONTRIBUTIONS, _contribution),
    (q.EVIDENCE, _evidence),
    (q.FACTS, _fact),
    (q.MERGES, _merge),
    (q.MARKS, _mark),
)
