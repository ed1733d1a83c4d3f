"""To version 2: what each mention told is kept beside it, merges are recorded, spending is counted.

What was mentioned before is mentioned still, in its order; what it told word for word was not kept.
"""

from __future__ import annotations

import sqlite3

STATEMENTS = (
    "CREATE TABLE spending (group_no INTEGER PRIMARY KEY REFERENCES groups (no), body TEXT NOT NULL)",
    """CREATE TABLE merge (
    group_no INTEGER NOT NULL REFERENCES groups (no), id TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (group_no, id)) WITHOUT ROWID""",
    "DROP INDEX mention_by_entity",
    "ALTER TABLE mention RENAME TO mention_1",
    """CREATE TABLE mention (
    group_no INTEGER NOT NULL REFERENCES groups (no), episode_id TEXT NOT NULL,
    entity_no INTEGER NOT NULL REFERENCES entity (no), known_from INTEGER NOT NULL,
    place INTEGER NOT NULL, told TEXT NOT NULL,
    PRIMARY KEY (group_no, episode_id, entity_no))""",
    # A place for each episode, in the order in which they were committed.
    """INSERT INTO mention SELECT group_no, episode_id, entity_no, known_from,
    dense_rank() OVER (PARTITION BY group_no ORDER BY known_from, episode_id) - 1, '[]' FROM mention_1""",
    "DROP TABLE mention_1",
    "CREATE INDEX mention_by_entity ON mention (entity_no)",
)


def migrate(connection: sqlite3.Connection) -> None:
    """Inside the caller's transaction."""
    for statement in STATEMENTS:
        connection.execute(statement)
