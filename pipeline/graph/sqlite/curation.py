"""Taking back and correcting in the file: the whole group as a ledger, and the commit of what changes in it."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Mapping

from pipeline.errors import Fenced, Poison
from pipeline.graph.ledger import FENCED_STAGES, FORGOTTEN, NOTICE, STAGES, CurationCommit, Ledger
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite import queries_curation as q
from pipeline.graph.sqlite.codec import micros, moment, read_community, read_entity, read_told, told_json
from pipeline.graph.sqlite.communities import move_members
from pipeline.graph.sqlite.episodes import add_episode
from pipeline.graph.sqlite.facts import evidence_row
from pipeline.graph.sqlite.leases import pass_lease
from pipeline.graph.sqlite.rebuilds import restore
from pipeline.graph.sqlite.text import remove_text
from pipeline.graph.sqlite.writes import ItemWriter, ensure_group, group_no, put_mark
from pipeline.model.fact import Fact
from pipeline.model.judgement import JudgedEpisode, record_of
from pipeline.model.provenance import Contribution, Merge
from pipeline.timeline.evidence import Evidence


def ledger(connection: sqlite3.Connection, group_id: str) -> Ledger:
    """The whole group, as one snapshot."""
    group = group_no(connection, group_id)
    if group is None:
        return Ledger(group_id, dict.fromkeys(FENCED_STAGES, 0))
    of = {"group": group}

    def rows(query: str) -> list[tuple[str, ...]]:
        return connection.execute(query, of).fetchall()

    entities = [
        read_entity(body, community)
        for _, body, community in connection.execute(queries.ENTITIES_OF_GROUP, of).fetchall()
    ]
    evidence = [Evidence.model_validate_json(body) for (body,) in rows(q.EVIDENCE)]
    facts = [Fact.model_validate_json(body) for (body,) in rows(q.FACTS)]
    members: dict[str, list[str]] = defaultdict(list)
    for entity in entities:
        if entity.community_id is not None:
            members[entity.community_id].append(entity.id)
    merges = [Merge.model_validate_json(body) for (body,) in rows(q.MERGES)]
    told = [
        Contribution(episode_id=e, entity_id=i, place=place, at=moment(at), told=read_told(text))
        for e, i, place, at, text in connection.execute(q.CONTRIBUTIONS, of).fetchall()
    ]
    return Ledger(
        group_id,
        lanes={**dict.fromkeys(FENCED_STAGES, 0), **dict(connection.execute(q.LANES, of).fetchall())},
        episodes=frozenset(i for (i,) in rows(q.EPISODE_IDS)),
        unfinished=frozenset(i for (i,) in rows(q.UNFINISHED)),
        entities={e.id: e for e in entities},
        contributions={(c.episode_id, c.entity_id): c for c in told},
        evidence={e.id: e for e in evidence},
        facts={f.id: f for f in facts},
        communities={i: read_community(body, members[i]) for i, body in rows(q.COMMUNITIES)},
        merges={m.id: m for m in merges},
        outputs={(e, stage): text for e, stage, text in rows(q.OUTPUTS)},
        judged={(e, stage): JudgedEpisode.model_validate_json(text) for e, stage, text in rows(q.JUDGED)},
    )


def commit_curation(connection: sqlite3.Connection, dimension: int, commit: CurationCommit) -> None:
    """Write the difference: what goes first, then what comes."""
    group = _enter(connection, commit.group_id, commit.lanes, commit.lease)
    if commit.place:
        connection.execute(q.RAISE_PLACE, {"group": group, "place": commit.place})
    writer = ItemWriter(connection, group, dimension)
    _remove(connection, group, writer, commit)
    restore(connection, dimension, group, commit.restored)
    for episode, vector in commit.added:
        for stage in STAGES:
            put_mark(connection, group, episode.id, stage, None)
        add_episode(connection, dimension, group, episode, vector, commit.at)
    for entity in commit.entities:
        writer.entity(entity, None)
    for one in commit.contributions:
        row = {"group": group, "episode": one.episode_id, "entity": one.entity_id, "place": one.place}
        told = {"at": micros(one.at), "told": told_json(one.told)}
        if not connection.execute(q.PUT_MENTION, {**row, **told}).rowcount:
            raise Poison("an entity that an episode mentions is not in the graph", "contributions")
    connection.executemany(queries.PUT_EVIDENCE, [evidence_row(group, item) for item in commit.evidence])
    for fact in commit.facts:
        writer.fact(fact)
    for merge in commit.merges:
        row = {"group": group, "id": merge.id, "body": merge.model_dump_json()}
        connection.execute(queries.PUT_MERGE, row)
    for community in commit.communities:
        writer.community(community)
    move_members(connection, group, writer, commit.moves)
    for (episode_id, stage), text in commit.outputs.items():
        place = {"group": group, "episode": episode_id, "stage": stage}
        connection.execute(q.REPLACE_OUTPUT, {**place, "output": text})
    for (episode_id, stage), record in commit.judged.items():
        place = {"group": group, "episode": episode_id, "stage": stage}
        connection.execute(q.DROP_JUDGED, place)
        if record is not None:
            connection.execute(queries.PUT_JUDGED, {**place, "body": record_of(record)})
    if commit.notice is not None:
        put_mark(connection, group, commit.notice[0], NOTICE, commit.notice[1])
    _rest(connection)


def erase_group(
    connection: sqlite3.Connection, group_id: str, lanes: Mapping[str, int], notice: tuple[str, str]
) -> None:
    """Remove everything of the group; tombstones and the notice stay."""
    group = _enter(connection, group_id, lanes)
    of = {"group": group}
    known = {i for (i,) in connection.execute(q.EPISODE_IDS, of)}
    for kind, query in q.NOS_OF_GROUP.items():
        for (no,) in connection.execute(query, of).fetchall():
            remove_text(connection, kind, no)
    for statement in q.ERASE:
        connection.execute(statement, of)
    connection.execute(queries.RAISE_GROUP_CHANGES, of).fetchone()
    known |= {i for (i,) in connection.execute(q.EVERY_TOMBSTONE, of)}
    _bury(connection, group, known)
    put_mark(connection, group, notice[0], NOTICE, notice[1])
    _rest(connection)


def drop_marks(connection: sqlite3.Connection, group_id: str) -> None:
    """Delete all marks of a group."""
    of = {"group": group_no(connection, group_id)}
    connection.execute(q.DROP_ALL_MARKS, of)
    connection.execute(q.DROP_EVERY_JUDGED, of)


def notice_sent(connection: sqlite3.Connection, group_id: str, name: str) -> None:
    """Drop a notice."""
    connection.execute(q.DROP_NOTICE, {"group": group_no(connection, group_id), "name": name})


def _enter(connection: sqlite3.Connection, group_id: str, lanes: Mapping[str, int], lease: str = "") -> int:
    pass_lease(connection, group_id, lease)
    group = ensure_group(connection, group_id)
    stored = dict(connection.execute(q.LANES, {"group": group}).fetchall())
    for stage in FENCED_STAGES:
        if stored.get(stage, 0) != lanes.get(stage, 0):
            raise Fenced(f"{stage} of group {group_id!r} has committed since the ledger was read")
        connection.execute(q.RAISE_ANY_LANE, {"group": group, "stage": stage})
    return group


def _remove(connection: sqlite3.Connection, group: int, writer: ItemWriter, commit: CurationCommit) -> None:
    for episode_id, entity_id in commit.removed_mentions:
        place = {"group": group, "episode": episode_id, "entity": entity_id}
        connection.execute(q.REMOVE_MENTION, place)
    of = [{"group": group, "id": i} for i in commit.removed_evidence]
    connection.executemany(q.REMOVE_EVIDENCE, of)
    connection.executemany(q.REMOVE_MERGE, [{"group": group, "id": i} for i in commit.removed_merges])
    for kind, names in (
        ("fact", commit.removed_facts),
        ("entity", commit.removed_entities),
        ("episode", commit.forgotten),
    ):
        for name in names:
            row = connection.execute(q.NO_OF[kind], {"group": group, "id": name}).fetchone()
            if row is not None:
                _remove_item(connection, writer, kind, int(row[0]))
    _bury(connection, group, commit.forgotten)


def _remove_item(connection: sqlite3.Connection, writer: ItemWriter, kind: str, no: int) -> None:
    connection.execute(queries.REMOVE_VECTOR, {"kind": kind, "no": no})
    remove_text(connection, kind, no)
    for statement in q.REMOVE[kind]:
        connection.execute(statement, {"no": no})
    writer.raise_changes()


def _bury(connection: sqlite3.Connection, group: int, episodes: Iterable[str]) -> None:
    """The marks of all stages without output, and the tombstone itself."""
    for episode_id in episodes:
        connection.execute(q.DROP_MARKS, {"group": group, "episode": episode_id})
        connection.execute(q.DROP_ALL_JUDGED, {"group": group, "episode": episode_id})
        for stage in (*STAGES, FORGOTTEN):
            put_mark(connection, group, episode_id, stage, None)


def _rest(connection: sqlite3.Connection) -> None:
    """Let the full-text indexes let go of what was deleted."""
    for statement in q.REST:
        connection.execute(statement)
