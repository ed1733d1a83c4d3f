"""What a rebuild asks of the file beside a curation: what is known of episodes, and episodes that come back."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Sequence

from pipeline.graph.ledger import FORGOTTEN, STAGES, KnownEpisode, Restored
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import json_list, moment
from pipeline.graph.sqlite.episodes import add_episode
from pipeline.graph.sqlite.writes import group_no
from pipeline.model.episode import Episode, EpisodeState, Usage

STORED = "SELECT id, state, sequence, created_at, reason, usage FROM episode WHERE group_no = ?"
MARKED = "SELECT episode_id, stage FROM mark WHERE group_no = ?"
RAW = """
SELECT body FROM episode WHERE group_no = :group AND id IN (SELECT value FROM json_each(:ids))"""
GROUP_IDS = """
SELECT id FROM groups g WHERE EXISTS (SELECT 1 FROM episode WHERE group_no = g.no)
  OR EXISTS (SELECT 1 FROM entity WHERE group_no = g.no) ORDER BY id"""
ADD_MARK = "INSERT OR IGNORE INTO mark VALUES (:group, :episode, :stage, :output)"
SET_STATE = """
UPDATE episode SET state = :state, reason = :reason WHERE group_no = :group AND id = :id"""
SET_USAGE = "UPDATE episode SET usage = :usage WHERE group_no = :group AND id = :id"


def known_episodes(connection: sqlite3.Connection, group_id: str) -> tuple[KnownEpisode, ...]:
    """Every episode that is stored or marked."""
    group = (group_no(connection, group_id),)
    stages: dict[str, set[str]] = defaultdict(set)
    for name, stage in connection.execute(MARKED, group):
        if stage in (*STAGES, FORGOTTEN):
            stages[name].add(stage)
    known = {
        name: KnownEpisode(
            name,
            frozenset(stages[name]),
            EpisodeState(state),
            sequence,
            moment(created),
            reason,
            Usage.model_validate_json(usage),
        )
        for name, state, sequence, created, reason, usage in connection.execute(STORED, group).fetchall()
    }
    known |= {name: KnownEpisode(name, frozenset(some)) for name, some in stages.items() if name not in known}
    return tuple(known[name] for name in sorted(known))


def raw_episodes(connection: sqlite3.Connection, group_id: str, ids: Sequence[str]) -> tuple[Episode, ...]:
    """Those of the ids that are stored."""
    of = {"group": group_no(connection, group_id), "ids": json_list(ids)}
    return tuple(Episode.model_validate_json(body) for (body,) in connection.execute(RAW, of))


def group_ids(connection: sqlite3.Connection) -> tuple[str, ...]:
    """Groups that hold anything."""
    return tuple(name for (name,) in connection.execute(GROUP_IDS))


def restore(connection: sqlite3.Connection, dimension: int, group: int, restored: Iterable[Restored]) -> None:
    """Store what is missing of the episodes, and set their marks and states."""
    for one in restored:
        place = {"group": group, "id": one.episode.id}
        for stage in one.stages:
            row = {"group": group, "episode": one.episode.id, "stage": stage, "output": None}
            connection.execute(ADD_MARK, row)
        if connection.execute(queries.EPISODE_BODY, place).fetchone() is None:
            add_episode(connection, dimension, group, one.episode, one.vector, one.created_at)
            connection.execute(SET_USAGE, {**place, "usage": one.usage.model_dump_json()})
        connection.execute(SET_STATE, {**place, "state": one.state, "reason": one.reason})
