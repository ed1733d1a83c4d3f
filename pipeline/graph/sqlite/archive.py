"""The graph file as records, and records into a graph file."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from pathlib import Path

from pipeline.errors import Poison
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
    unpacked,
)
from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.sqlite import queries, schema
from pipeline.graph.sqlite import queries_archive as q
from pipeline.graph.sqlite import queries_curation as curation
from pipeline.graph.sqlite.codec import (
    json_list,
    micros,
    moment,
    read_community,
    read_entity,
    read_told,
    told_json,
)
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.episodes import add_episode
from pipeline.graph.sqlite.facts import evidence_row
from pipeline.graph.sqlite.items import stored_episode
from pipeline.graph.sqlite.writes import ItemWriter, ensure_group, group_no
from pipeline.model.fact import Fact
from pipeline.model.provenance import Contribution, Merge
from pipeline.observer import SilentObserver
from pipeline.timeline.evidence import Evidence


class SqliteArchiveSource:
    """Tells the groups of a file, each as one snapshot shows it, also while the file is written."""

    def __init__(self, path: str | Path) -> None:
        self._database = Database(Path(path), create=False, observer=SilentObserver(), busy_seconds=10.0)

    async def open(self) -> None:
        """See ArchiveSource."""
        await self._database.open_with(schema.check)

    async def close(self) -> None:
        """See ArchiveSource."""
        await self._database.close()

    async def groups(self) -> list[str]:
        """Those that hold anything."""
        return await self._database.read("groups", lambda c: [g for (g,) in c.execute(q.GROUPS)])

    async def dimension(self) -> int:
        """See ArchiveSource."""
        return await self._database.read("dimension", schema.check)

    async def model(self) -> str | None:
        """The model that the file was made with."""
        return await self._database.read("model", schema.embedding_model)

    async def tell(self, group_id: str, on_record: Callable[[Record], None]) -> None:
        """See ArchiveSource."""

        def work(connection: sqlite3.Connection) -> None:
            for record in _records(connection, group_id):
                on_record(record)

        await self._database.read("archive", work)


class SqliteArchiveTarget:
    """Takes records into a file. No other process may write to it meanwhile.

    Args:
        path: the file; created when its folder exists.
        dimension: length of the vectors; SettingError from `open` when the file holds others.
    """

    def __init__(self, path: str | Path, dimension: int) -> None:
        self._dimension = dimension
        self._database = Database(Path(path), create=True, observer=SilentObserver(), busy_seconds=10.0)

    async def open(self) -> None:
        """See ArchiveTarget."""
        await self._database.open_with(lambda c: schema.create(c, self._dimension))

    async def close(self) -> None:
        """See ArchiveTarget."""
        await self._database.close()

    async def occupied(self, groups: Sequence[str]) -> list[str]:
        """See ArchiveTarget."""

        def work(connection: sqlite3.Connection) -> list[str]:
            return [g for (g,) in connection.execute(q.OCCUPIED, (json_list(groups),))]

        return await self._database.read("occupied", work)

    async def restored(self, name: str) -> int:
        """See ArchiveTarget."""

        def work(connection: sqlite3.Connection) -> int:
            row = connection.execute(q.RESTORED, {"name": _setting(name)}).fetchone()
            return 0 if row is None else int(row[0])

        return await self._database.read("restored", work)

    async def restore(
        self, name: str, group_id: str, chunk: Sequence[Record], done: int, at: datetime
    ) -> None:
        """See ArchiveTarget."""

        def work(connection: sqlite3.Connection) -> None:
            group = ensure_group(connection, group_id)
            writer = ItemWriter(connection, group, self._dimension)
            for record in chunk:
                _put(connection, group, writer, record, self._dimension)
            connection.execute(q.SET_RESTORED, {"name": _setting(name), "value": str(done)})

        await self._database.write("restore", work)


def _setting(name: str) -> str:
    return f"archive:{name}"


def _records(connection: sqlite3.Connection, group_id: str) -> Iterator[Record]:
    group = group_no(connection, group_id)
    of = {"group": group}
    spent = connection.execute(queries.SPENDING, of).fetchone()
    yield GroupRecord(
        id=group_id,
        lanes=dict(connection.execute(curation.LANES, of).fetchall()),
        spent=None if spent is None else spent[0],
    )
    for data, *columns in connection.execute(q.EPISODES, of):
        stored = stored_episode(*columns)
        yield EpisodeRecord(
            episode=stored.episode,
            state=stored.state,
            reason=stored.reason,
            usage=stored.usage,
            created_at=stored.created_at,
            vector=_text(data),
        )
    for data, body in connection.execute(q.COMMUNITIES, of):
        yield CommunityRecord(community=read_community(body, ()), vector=_text(data))
    for data, body, community in connection.execute(q.ENTITIES, of):
        yield EntityRecord(entity=read_entity(body, community), vector=_text(data))
    for episode, entity, place, known, told in connection.execute(q.CONTRIBUTIONS, of):
        yield ContributionRecord(
            contribution=Contribution(
                episode_id=episode, entity_id=entity, place=place, at=moment(known), told=read_told(told)
            )
        )
    for (body,) in connection.execute(q.EVIDENCE, of):
        yield EvidenceRecord(evidence=Evidence.model_validate_json(body))
    for data, body in connection.execute(q.FACTS, of):
        yield FactRecord(fact=Fact.model_validate_json(body), vector=_text(data))
    for (body,) in connection.execute(q.MERGES, of):
        yield MergeRecord(merge=Merge.model_validate_json(body))
    marks = q.MARKS if connection.execute(q.HAS_JUDGED).fetchone() else q.OLD_MARKS
    for episode, stage, output, judged, forgotten in connection.execute(marks, of):
        yield MarkRecord(
            episode_id=episode, stage=stage, output=output, judged=judged, forgotten=bool(forgotten)
        )


def _text(data: bytes | None) -> str | None:
    return None if data is None else base64.b64encode(data).decode()


def _put(
    connection: sqlite3.Connection, group: int, writer: ItemWriter, record: Record, dimension: int
) -> None:
    match record:
        case GroupRecord(lanes=lanes, spent=spent):
            rows = [{"group": group, "stage": stage, "version": v} for stage, v in lanes.items()]
            connection.executemany(q.SET_LANE, rows)
            if spent is not None:
                connection.execute(queries.PUT_SPENDING, {"group": group, "body": spent})
        case EpisodeRecord():
            _put_episode(connection, group, record, dimension)
        case CommunityRecord(community=community, vector=vector):
            bare = community.model_copy(update={"members": ()})
            writer.community(CommunityWrite(bare, _values(vector)))
        case EntityRecord(entity=entity, vector=vector):
            writer.entity(EntityWrite(entity, _values(vector)), None)
            place = {"group": group, "id": entity.id, "community": entity.community_id}
            if not connection.execute(queries.MOVE_ENTITY, place).rowcount:
                raise Poison(f"the community {entity.community_id} is not there", "entity.community_id")
        case ContributionRecord(contribution=one):
            row = {"group": group, "episode": one.episode_id, "entity": one.entity_id, "place": one.place}
            told = {"at": micros(one.at), "told": told_json(one.told)}
            if not connection.execute(curation.PUT_MENTION, {**row, **told}).rowcount:
                raise Poison(f"the entity {one.entity_id} is not there", "contribution.entity_id")
        case EvidenceRecord(evidence=evidence):
            connection.execute(queries.PUT_EVIDENCE, evidence_row(group, evidence))
        case FactRecord(fact=fact, vector=vector):
            writer.fact(FactWrite(fact, _values(vector)))
        case MergeRecord(merge=merge):
            row = {"group": group, "id": merge.id, "body": merge.model_dump_json()}
            connection.execute(queries.PUT_MERGE, row)
        case MarkRecord():
            mark = {"group": group, "episode": record.episode_id, "stage": record.stage}
            connection.execute(queries.PUT_MARK, {**mark, "output": record.output})
            if record.judged is not None:
                connection.execute(queries.PUT_JUDGED, {**mark, "body": record.judged})


def _put_episode(connection: sqlite3.Connection, group: int, record: EpisodeRecord, dimension: int) -> None:
    place = {"group": group, "id": record.episode.id}
    if connection.execute(queries.EPISODE_BODY, place).fetchone() is None:
        vector = _values(record.vector)
        add_episode(connection, dimension, group, record.episode, vector, record.created_at)
    state = {"state": record.state, "reason": record.reason, "usage": record.usage.model_dump_json()}
    connection.execute(q.SET_EPISODE, {**place, **state})


def _values(vector: str | None) -> list[float] | None:
    return None if vector is None else unpacked(vector)
