"""Spool: what was read of the topics, in a file on disk, so that groups of any size can be told again in their order.

It is thrown away when it has served. Reading goes on where it was left, also after a kill.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from pipeline.graph.sqlite.codec import micros, moment
from pipeline.model.changes import FactChange
from pipeline.model.episode import Episode, EpisodeState
from pipeline.model.extraction import ExtractedEpisode, Extraction
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.log import Place

TABLES = """
CREATE TABLE IF NOT EXISTS position (topic TEXT, partition INTEGER, next INTEGER, PRIMARY KEY (topic, partition));
CREATE TABLE IF NOT EXISTS raw (
    group_id TEXT, id TEXT, sequence INTEGER, at INTEGER, body TEXT, PRIMARY KEY (group_id, id));
CREATE TABLE IF NOT EXISTS extracted (group_id TEXT, id TEXT, body TEXT, PRIMARY KEY (group_id, id));
CREATE TABLE IF NOT EXISTS judged (group_id TEXT, id TEXT, stage TEXT, body TEXT, PRIMARY KEY (group_id, id, stage));
CREATE TABLE IF NOT EXISTS status (group_id TEXT, id TEXT, state TEXT, PRIMARY KEY (group_id, id));
CREATE TABLE IF NOT EXISTS told (
    group_id TEXT, fact_id TEXT, revision INTEGER, body TEXT, PRIMARY KEY (group_id, fact_id));
"""
PLACES = """
SELECT r.id, r.sequence, r.at, e.body IS NOT NULL, s.state FROM raw r
LEFT JOIN extracted e ON e.group_id = r.group_id AND e.id = r.id
LEFT JOIN status s ON s.group_id = r.group_id AND s.id = r.id
WHERE r.group_id = ? ORDER BY r.sequence, r.id"""


class Entry(NamedTuple):
    """One record, decoded: `table` is where it belongs, `row` its columns there."""

    table: str
    row: tuple[object, ...]


# Of several raw events under one id the first in the log stands, of everything else the last.
_PUT = {
    "raw": "INSERT OR IGNORE INTO raw VALUES (?, ?, ?, ?, ?)",
    "extracted": "INSERT OR REPLACE INTO extracted VALUES (?, ?, ?)",
    "judged": "INSERT OR REPLACE INTO judged VALUES (?, ?, ?, ?)",
    "status": "INSERT OR REPLACE INTO status VALUES (?, ?, ?)",
    "told": """INSERT INTO told VALUES (?, ?, ?, ?) ON CONFLICT (group_id, fact_id)
        DO UPDATE SET revision = excluded.revision, body = excluded.body
        WHERE excluded.revision >= told.revision""",
}


class Spool:
    """The file over one connection. Every call is short; the records come in batches."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        # A power cut may take it: then it is read again.
        self._connection.execute("PRAGMA synchronous = OFF")
        for statement in TABLES.split(";\n"):
            self._connection.execute(statement)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def positions(self) -> dict[tuple[str, int], int]:
        """The next offset to read, by topic and partition."""
        rows = self._connection.execute("SELECT topic, partition, next FROM position")
        return {(topic, partition): following for topic, partition, following in rows}

    def put(self, entries: Iterable[Entry], positions: Mapping[tuple[str, int], int]) -> None:
        """Keep a batch and how far it goes, both or neither."""
        self._connection.execute("BEGIN")
        for table, row in entries:
            self._connection.execute(_PUT[table], row)
        self._connection.executemany(
            "INSERT OR REPLACE INTO position VALUES (?, ?, ?)", [(*key, n) for key, n in positions.items()]
        )
        self._connection.execute("COMMIT")

    def groups(self) -> list[str]:
        """The groups of which it has raw events."""
        return [name for (name,) in self._connection.execute("SELECT DISTINCT group_id FROM raw ORDER BY 1")]

    def places(self, group_id: str) -> list[Place]:
        """The episodes of a group, in the order of the log."""
        return [
            Place(
                name,
                sequence,
                moment(at),
                bool(extracted),
                EpisodeState(state) if state else None,
            )
            for name, sequence, at, extracted, state in self._connection.execute(PLACES, (group_id,))
        ]

    def episodes(self, group_id: str, ids: Sequence[str]) -> dict[str, Episode]:
        """The raw episodes of those ids."""
        return {i: Episode.model_validate_json(body) for i, body in self._some("raw", group_id, ids) if body}

    def extractions(self, group_id: str, ids: Sequence[str]) -> dict[str, Extraction]:
        """What was extracted from them."""
        return {
            i: ExtractedEpisode.model_validate_json(body).extraction
            for i, body in self._some("extracted", group_id, ids)
            if body is not None
        }

    def judged(self, group_id: str, ids: Sequence[str]) -> list[JudgedEpisode]:
        """What judges decided about them."""
        return [
            JudgedEpisode.model_validate_json(body) for _, body in self._some("judged", group_id, ids) if body
        ]

    def told(self, group_id: str) -> dict[str, FactChange]:
        """The last change of each fact."""
        rows = self._connection.execute("SELECT fact_id, body FROM told WHERE group_id = ?", (group_id,))
        return {i: FactChange.model_validate_json(body) for i, body in rows}

    def _some(self, table: str, group_id: str, ids: Sequence[str]) -> list[tuple[str, str | None]]:
        query = f"SELECT id, body FROM {table} WHERE group_id = ? AND id = ?"  # noqa: S608
        return [row for i in ids for row in self._connection.execute(query, (group_id, i)).fetchall()]


def raw_entry(episode: Episode, at: datetime) -> Entry:
    """A raw event."""
    return Entry(
        "raw", (episode.group_id, episode.id, episode.sequence, micros(at), episode.model_dump_json())
    )


def told_entry(change: FactChange) -> Entry:
    """A change that consumers were told."""
    return Entry("told", (change.group_id, change.fact.id, change.revision, change.model_dump_json()))
