"""To version 3: what full-text search counts are word stems, where it was whole words."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode
from pipeline.model.fact import Fact
from pipeline.text.analysis import search_text

BATCH = 500
READ = "SELECT no, group_no, body FROM {kind} WHERE no > ? ORDER BY no LIMIT ?"
EMPTY = "DELETE FROM {kind}_text"
WRITE = "INSERT INTO {kind}_text (rowid, scope, terms) VALUES (?, ?, ?)"


def _episode(body: str) -> str:
    return search_text(Episode.model_validate_json(body).text)


def _entity(body: str) -> str:
    entity = Entity.model_validate_json(body)
    return search_text(entity.name, *entity.aliases, entity.summary)


def _fact(body: str) -> str:
    fact = Fact.model_validate_json(body)
    return search_text(fact.fact, fact.source.name, fact.target.name, fact.relation)


def _community(body: str) -> str:
    community = Community.model_validate_json(body)
    return search_text(community.name, community.summary)


TEXTS: dict[str, Callable[[str], str]] = {
    "episode": _episode,
    "entity": _entity,
    "fact": _fact,
    "community": _community,
}


def migrate(connection: sqlite3.Connection) -> None:
    """Inside the caller's transaction; a batch of texts is in memory at a time."""
    for kind, text in TEXTS.items():
        connection.execute(EMPTY.format(kind=kind))
        after = -1
        while rows := connection.execute(READ.format(kind=kind), (after, BATCH)).fetchall():
            connection.executemany(
                WRITE.format(kind=kind), [(no, str(group), text(body)) for no, group, body in rows]
            )
            after = rows[-1][0]
