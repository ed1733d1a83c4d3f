"""The tables of the file, its version, and what a file must be to be opened.

Whole objects stand as JSON in `body`; what is searched, joined or ordered by stands in columns beside it. Times are
microseconds since 1970; the precision of a date stays with its object. Episodes are referred to by their id, since
the marks of an episode outlive it when it is forgotten.
"""

from __future__ import annotations

import sqlite3

from pipeline.errors import NewerFormat, Retryable, SettingError
from pipeline.graph.sqlite.migrations import STEPS, migrate

APPLICATION_ID = 0x46535431
SCHEMA_VERSION = max(STEPS)

TABLES = """
CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE groups (no INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, changes INTEGER NOT NULL DEFAULT 0);
CREATE TABLE lane (
    group_no INTEGER NOT NULL REFERENCES groups (no), stage TEXT NOT NULL, version INTEGER NOT NULL,
    PRIMARY KEY (group_no, stage)) WITHOUT ROWID;
CREATE TABLE spending (group_no INTEGER PRIMARY KEY REFERENCES groups (no), body TEXT NOT NULL);
CREATE TABLE mark (
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL, stage TEXT NOT NULL, output TEXT,
    PRIMARY KEY (group_no, episode_id, stage));

CREATE TABLE episode (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    state TEXT NOT NULL, reason TEXT, reference_time INTEGER NOT NULL, sequence INTEGER NOT NULL, thread_id TEXT,
    created_at INTEGER NOT NULL, usage TEXT NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX episode_by_time ON episode (group_no, reference_time, sequence);
CREATE INDEX episode_by_thread ON episode (group_no, thread_id, reference_time, sequence);
CREATE TABLE metadata (
    episode_no INTEGER NOT NULL REFERENCES episode (no), key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (episode_no, key)) WITHOUT ROWID;

CREATE TABLE entity (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    type TEXT, created_at INTEGER NOT NULL, community_id TEXT, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX entity_by_community ON entity (group_no, community_id);
CREATE TABLE entity_key (
    group_no INTEGER NOT NULL REFERENCES groups (no), key TEXT NOT NULL,
    entity_no INTEGER NOT NULL REFERENCES entity (no),
    PRIMARY KEY (group_no, key, entity_no)) WITHOUT ROWID;
CREATE INDEX entity_key_by_entity ON entity_key (entity_no);
CREATE TABLE mention (
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL,
    entity_no INTEGER NOT NULL REFERENCES entity (no), known_from INTEGER NOT NULL,
    place INTEGER NOT NULL, told TEXT NOT NULL,
    PRIMARY KEY (group_no, episode_id, entity_no));
CREATE INDEX mention_by_entity ON mention (entity_no);
CREATE TABLE merge (
    group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (group_no, id)) WITHOUT ROWID;

CREATE TABLE evidence (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    subject TEXT NOT NULL, relation TEXT NOT NULL, object TEXT NOT NULL, cardinality TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX evidence_by_slot ON evidence (group_no, subject, relation, object);
CREATE INDEX evidence_by_object ON evidence (group_no, object, relation);

CREATE TABLE fact (
    no INTEGER PRIMARY KEY, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    source TEXT NOT NULL, relation TEXT NOT NULL, target TEXT NOT NULL, created_at INTEGER NOT NULL,
    revision INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));
CREATE INDEX fact_by_source ON fact (group_no, source, relation, target);
CREATE INDEX fact_by_target ON fact (group_no, target, source);
CREATE TABLE belief (
    fact_no INTEGER NOT NULL REFERENCES fact (no), place INTEGER NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL, holds INTEGER NOT NULL,
    valid_from INTEGER NOT NULL, valid_to INTEGER NOT NULL,
    PRIMARY KEY (fact_no, place)) WITHOUT ROWID;
CREATE TABLE support (
    fact_no INTEGER NOT NULL REFERENCES fact (no), place INTEGER NOT NULL,
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL,
    known_from INTEGER NOT NULL, known_to INTEGER NOT NULL,
    PRIMARY KEY (fact_no, place)) WITHOUT ROWID;
CREATE INDEX support_by_episode ON support (group_no, episode_id);
CREATE VIEW held AS
    SELECT f.no, f.group_no, f.id, f.source, f.relation, f.target, f.created_at,
        b.known_from, b.known_to, b.valid_from, b.valid_to
    FROM fact f JOIN belief b ON b.fact_no = f.no WHERE b.holds = 1;

CREATE TABLE community (
    no INTEGER PRIMARY KEY AUTOINCREMENT, group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
    created_at INTEGER NOT NULL, body TEXT NOT NULL,
    UNIQUE (group_no, id));

CREATE TABLE vector (
    kind TEXT NOT NULL, item_no INTEGER NOT NULL, group_no INTEGER NOT NULL REFERENCES groups (no),
    change INTEGER NOT NULL, data BLOB NOT NULL,
    PRIMARY KEY (kind, item_no));
CREATE INDEX vector_by_change ON vector (kind, group_no, change);

CREATE VIRTUAL TABLE episode_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE entity_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE fact_text USING fts5 (scope, terms, tokenize = 'ascii');
CREATE VIRTUAL TABLE community_text USING fts5 (scope, terms, tokenize = 'ascii');
"""
# The texts are analysed already. The tokenizer "ascii" splits them at their spaces and takes every letter beyond
# ASCII as it is, where "unicode61" would go by its own, older, tables of what a letter is.


ADDITIONS = (
    """CREATE TABLE IF NOT EXISTS judged (
        group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL, stage TEXT NOT NULL,
        body TEXT NOT NULL, PRIMARY KEY (group_no, episode_id, stage)) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS hyperedge (
        group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL,
        fact_no INTEGER NOT NULL REFERENCES fact (no),
        PRIMARY KEY (group_no, id, fact_no)) WITHOUT ROWID""",
    "CREATE INDEX IF NOT EXISTS hyperedge_by_fact ON hyperedge (fact_no)",
)
"""What judges decided about an episode; what one sentence states over several pairs. A file of the same version that
was made before them has them added when a writer opens it."""


def create(connection: sqlite3.Connection, dimension: int) -> None:
    """Create the tables in an empty file, inside the caller's transaction; bring an older one to this version, and
    check the file otherwise.

    Raises:
        NewerFormat: the file is a newer version's.
        SettingError: the file is another program's, or holds vectors of another dimension.
    """
    if _pragma(connection, "user_version") == 0 and _pragma(connection, "application_id") == 0:
        if connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            raise SettingError("the graph file holds another program's tables: name another path")
        for statement in _statements(TABLES):
            connection.execute(statement)
        connection.execute("INSERT INTO setting VALUES ('dimension', ?)", (str(dimension),))
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
    if _pragma(connection, "application_id") == APPLICATION_ID:
        migrate(connection, _pragma(connection, "user_version"))
    stored = check(connection)
    for statement in ADDITIONS:
        connection.execute(statement)
    if stored != dimension:
        raise SettingError(
            f"the graph file holds vectors of {stored} dimensions, the configured embedding model makes {dimension}: "
            "take the model that the graph was made with, or rebuild the graph"
        )


def check(connection: sqlite3.Connection) -> int:
    """The vector dimension of a file that this version can read.

    Raises:
        Retryable: the file is empty, its writer has not created the tables yet.
        NewerFormat: the file is a newer version's.
        SettingError: the file is another program's, or an older version's that no writer has opened since.
    """
    application, version = _pragma(connection, "application_id"), _pragma(connection, "user_version")
    if application == 0 and version == 0:
        raise Retryable("the graph file has no tables yet: its writer has not started")
    if application != APPLICATION_ID:
        raise SettingError("the graph file is another program's database: name another path")
    check_version(connection)
    if version < SCHEMA_VERSION:
        raise SettingError(
            f"the graph file has schema version {version}, this program reads {SCHEMA_VERSION}: open it for writing "
            "once, which brings it there"
        )
    return int(connection.execute("SELECT value FROM setting WHERE name = 'dimension'").fetchone()[0])


def check_version(connection: sqlite3.Connection) -> None:
    """NewerFormat when the file is a newer version's."""
    if (version := _pragma(connection, "user_version")) > SCHEMA_VERSION:
        raise NewerFormat(
            f"the graph file has schema version {version}, this program knows up to {SCHEMA_VERSION}: use a newer "
            "program"
        )


def embedding_model(connection: sqlite3.Connection) -> str | None:
    """The model that the file's vectors were made with, where it is noted."""
    row = connection.execute("SELECT value FROM setting WHERE name = 'embedding_model'").fetchone()
    return None if row is None else str(row[0])


def _pragma(connection: sqlite3.Connection, name: str) -> int:
    return int(connection.execute(f"PRAGMA {name}").fetchone()[0])


def _statements(script: str) -> list[str]:
    return [statement for part in script.split(";\n") if (statement := part.strip())]
