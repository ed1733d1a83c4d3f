"""The extract stage's part of the store: raw episodes, their thread, and life and death of an episode."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from datetime import date, datetime

from pipeline.graph.extraction_port import ExtractionCommit, Received
from pipeline.graph.ledger import FORGOTTEN
from pipeline.graph.mark import Mark
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import micros, tag
from pipeline.graph.sqlite.text import put_text
from pipeline.graph.sqlite.writes import (
    EXTRACT,
    ItemWriter,
    advance,
    day_total,
    ensure_group,
    group_no,
    mark,
    put_mark,
    state_by_marks,
)
from pipeline.graph.vector import Vector
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.text.analysis import search_text


def receive(
    connection: sqlite3.Connection,
    dimension: int,
    episode: Episode,
    embedding: Vector | None,
    context_size: int,
    at: datetime,
) -> Received:
    """Store the episode unless its id is known; answer what is stored, its mark and the episodes before it."""
    group = ensure_group(connection, episode.group_id)
    row = connection.execute(queries.EPISODE_BODY, {"group": group, "id": episode.id}).fetchone()
    if row is None and mark(connection, group, episode.id, FORGOTTEN) is not None:
        return Received(stored=episode, mark=Mark(None, forgotten=True))
    if row is None:
        add_episode(connection, dimension, group, episode, embedding, at)
    stored = episode if row is None else Episode.model_validate_json(row[0])
    return Received(
        stored=stored,
        mark=mark(connection, group, stored.id, EXTRACT),
        context=_context(connection, group, stored, context_size),
        state=EpisodeState.received if row is None else EpisodeState(row[1]),
    )


def commit_extraction(connection: sqlite3.Connection, commit: ExtractionCommit) -> Mark:
    """Write the mark of the extract stage unless there is one; answer the one that stands."""
    group = ensure_group(connection, commit.episode.group_id)
    standing = mark(connection, group, commit.episode.id, EXTRACT)
    if standing is not None:
        return replace(standing, stood=True)
    put_mark(connection, group, commit.episode.id, EXTRACT, commit.output)
    advance(connection, group, commit.episode, commit.state, commit.usage, commit.at)
    return Mark(commit.output)


def spent(connection: sqlite3.Connection, group_id: str, day: date) -> Usage:
    """What the group has cost on a day, if that is the newest."""
    group = group_no(connection, group_id)
    return Usage() if group is None else day_total(connection, group).on(day)


def mark_dead(connection: sqlite3.Connection, group_id: str, episode_id: str, reason: str) -> bool:
    """Set an unfinished episode dead; False when it stands as committed or skipped."""
    place = {"group": group_no(connection, group_id), "id": episode_id}
    connection.execute(queries.SET_DEAD, {**place, "reason": reason})
    row = connection.execute(queries.EPISODE_BODY, place).fetchone()
    return row is None or row[1] == EpisodeState.dead


def hold(connection: sqlite3.Connection, group_id: str, episode_id: str, reason: str) -> None:
    """Say for what a received episode waits."""
    place = {"group": group_no(connection, group_id), "id": episode_id}
    connection.execute(queries.SET_HELD, {**place, "reason": reason})


def revive(connection: sqlite3.Connection, group_id: str, episode_id: str) -> None:
    """Set a dead episode back to what its marks say."""
    group = group_no(connection, group_id)
    if group is not None:
        state = state_by_marks(connection, group, episode_id)
        connection.execute(queries.SET_ALIVE, {"group": group, "id": episode_id, "state": state})


def add_episode(
    connection: sqlite3.Connection,
    dimension: int,
    group: int,
    episode: Episode,
    embedding: Vector | None,
    at: datetime,
) -> None:
    """Store a raw episode with its metadata, text and vector."""
    values = {
        "group": group,
        "id": episode.id,
        # An operator's own episode is committed in every stage at once.
        "state": state_by_marks(connection, group, episode.id),
        "reference_time": micros(episode.reference_time),
        "sequence": episode.sequence,
        "thread": episode.thread_id,
        "created_at": micros(at),
        "usage": Usage().model_dump_json(),
        "body": episode.model_dump_json(),
    }
    no = int(connection.execute(queries.ADD_EPISODE, values).fetchone()[0])
    connection.executemany(
        queries.ADD_METADATA, [(no, tag(key), tag(value)) for key, value in episode.metadata.items()]
    )
    put_text(connection, "episode", no, group, search_text(episode.text))
    ItemWriter(connection, group, dimension).vector("episode", no, embedding)


def _context(connection: sqlite3.Connection, group: int, episode: Episode, size: int) -> tuple[Episode, ...]:
    if episode.thread_id is None:
        return ()
    place = {
        "group": group,
        "thread": episode.thread_id,
        "id": episode.id,
        "reference_time": micros(episode.reference_time),
        "sequence": episode.sequence,
        "limit": size,
    }
    rows = connection.execute(queries.THREAD_BEFORE, place).fetchall()
    return tuple(Episode.model_validate_json(body) for (body,) in reversed(rows))
