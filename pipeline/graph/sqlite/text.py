"""Full text: the searched terms of an item beside the number of its group, so that the index itself keeps groups apart."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence

Scored = tuple[int, float]

KINDS = ("episode", "entity", "fact", "community")

_REMOVE = {kind: "DELETE FROM KIND_text WHERE rowid = ?".replace("KIND", kind) for kind in KINDS}
_ADD = {
    kind: "INSERT INTO KIND_text (rowid, scope, terms) VALUES (?, ?, ?)".replace("KIND", kind)
    for kind in KINDS
}
# The scope's weight is 0: to be in the group adds nothing to a score.
_RANKED = {
    kind: """SELECT rowid, bm25(KIND_text, 0.0, 1.0) AS score FROM KIND_text
    WHERE KIND_text MATCH ? ORDER BY score, rowid LIMIT ? OFFSET ?""".replace("KIND", kind)
    for kind in KINDS
}
_GROUPS = "SELECT count(*) FROM groups"
_HEAD = 512
"""How many are sorted at first; few are asked for as a rule."""


def put_text(connection: sqlite3.Connection, kind: str, no: int, group: int, terms: str) -> None:
    """Index the terms of an item, in place of those that it had."""
    remove_text(connection, kind, no)
    connection.execute(_ADD[kind], (no, str(group), terms))


def remove_text(connection: sqlite3.Connection, kind: str, no: int) -> None:
    """Take an item out of the index."""
    connection.execute(_REMOVE[kind], (no,))


def ranked(
    connection: sqlite3.Connection, kind: str, groups: Sequence[int], terms: Sequence[str]
) -> Iterator[Scored]:
    """The items of the groups that have any of the terms, by BM25, best (highest) first."""
    wanted = [_quoted(term) for term in terms if term.strip("\x00 ")]
    if not wanted or not groups:
        return
    match = f"{{terms}}: ({' OR '.join(wanted)})"
    if connection.execute(_GROUPS).fetchone()[0] > len(set(groups)):
        scope = " OR ".join(f'"{group}"' for group in groups)
        match = f"{{scope}}: ({scope}) AND {match}"
    told, limit = 0, _HEAD
    while rows := connection.execute(_RANKED[kind], (match, limit, told)).fetchall():
        for no, score in rows:
            yield int(no), -float(score)
        told, limit = told + limit, limit * 8


def _quoted(term: str) -> str:
    # Inside quotes nothing is an operator; a quote is doubled, and a NUL would end the expression.
    return '"' + term.replace("\x00", " ").replace('"', '""') + '"'
