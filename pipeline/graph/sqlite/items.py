"""From rows to the items of an answer, by item number."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Any

from pipeline.graph.search import Item, Scope, StoredEpisode, item_key
from pipeline.graph.sqlite import queries, queries_read
from pipeline.graph.sqlite.codec import json_list, moment, read_community, read_entity
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Fact

KIND = {
    Scope.facts: "fact",
    Scope.entities: "entity",
    Scope.episodes: "episode",
    Scope.communities: "community",
}
"""The name of a scope's items in the tables of texts and vectors."""

_BY_NO = {
    Scope.facts: queries_read.FACTS_BY_NO,
    Scope.entities: queries_read.ENTITIES_BY_NO,
    Scope.episodes: queries_read.EPISODES_BY_NO,
    Scope.communities: queries_read.COMMUNITIES_BY_NO,
}


def items_by_no(
    connection: sqlite3.Connection, scope: Scope, nos: Sequence[int]
) -> dict[int, tuple[str, Item]]:
    """Key and item by number."""
    rows = connection.execute(_BY_NO[scope], {"nos": json_list(nos)}).fetchall()
    return {
        no: (item_key(group, item_id), _read(connection, scope, rest)) for no, group, item_id, *rest in rows
    }


def stored_episode(body: str, state: str, usage: str, created_at: int, reason: str | None) -> StoredEpisode:
    """An episode from its columns, without what came out of it."""
    return StoredEpisode(
        episode=Episode.model_validate_json(body),
        state=EpisodeState(state),
        usage=Usage.model_validate_json(usage),
        created_at=moment(created_at),
        reason=reason,
    )


def _read(connection: sqlite3.Connection, scope: Scope, columns: list[Any]) -> Item:
    if scope is Scope.facts:
        return Fact.model_validate_json(columns[0])
    if scope is Scope.entities:
        return read_entity(columns[0], columns[1])
    if scope is Scope.episodes:
        return stored_episode(*columns)
    body, group = columns
    community = read_community(body, ())
    members = connection.execute(queries.MEMBER_IDS, {"group": group, "id": community.id})
    return community.model_copy(update={"members": tuple(member for (member,) in members)})
