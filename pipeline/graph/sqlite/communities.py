"""The update_communities stage's part of the store: neighbourhoods, memberships, and the whole group for a rebuild."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence

from pipeline.errors import Poison
from pipeline.graph.community_port import (
    CommunityCommit,
    CommunityGraph,
    CommunityQuery,
    CommunityTexts,
    CommunityView,
    GroupGraph,
    Neighbourhood,
)
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import json_list, read_community, read_entity
from pipeline.graph.sqlite.text import remove_text
from pipeline.graph.sqlite.writes import (
    UPDATE_COMMUNITIES,
    ItemWriter,
    add_spending,
    advance,
    enter_lane,
    group_no,
    lane_version,
    mark,
    put_mark,
)
from pipeline.model.community import Community
from pipeline.model.entity import Entity


def community_graph(connection: sqlite3.Connection, query: CommunityQuery, now: int) -> CommunityGraph:
    """The neighbourhoods of the entities asked for, with the communities in them; facts count that hold at `now`."""
    group = group_no(connection, query.episode.group_id)
    if group is None:
        return CommunityGraph(mark=None, lane_version=0)
    neighbourhoods = _neighbourhoods(connection, group, query, now)
    ids = {n.entity.community_id for n in neighbourhoods.values()}
    ids |= {community for n in neighbourhoods.values() for _, community in n.neighbours.values()}
    communities: dict[str, Community] = {}
    members: dict[str, tuple[Entity, ...]] = {}
    for community_id in sorted(i for i in ids if i is not None):
        community = read_one(connection, group, community_id)
        if community is not None:
            communities[community_id] = community
            members[community_id] = _members(connection, group, community_id, now, query.member_limit)
    return CommunityGraph(
        mark=mark(connection, group, query.episode.id, UPDATE_COMMUNITIES),
        lane_version=lane_version(connection, group, UPDATE_COMMUNITIES),
        neighbourhoods=neighbourhoods,
        communities=communities,
        members=members,
    )


def commit_communities(connection: sqlite3.Connection, dimension: int, commit: CommunityCommit) -> None:
    """Write communities and memberships; communities without members go, in a rebuild all that are not given."""
    group = enter_lane(connection, commit.group_id, UPDATE_COMMUNITIES, commit.lane_version, commit.episode)
    writer = ItemWriter(connection, group, dimension)
    for write in commit.communities:
        writer.community(write)
    if commit.episode is None:
        kept = json_list(write.community.id for write in commit.communities)
        connection.execute(queries.LEAVE_OTHER_COMMUNITIES, {"group": group, "ids": kept})
    move_members(connection, group, writer, commit.moves)
    if commit.episode is not None:
        put_mark(connection, group, commit.episode.id, UPDATE_COMMUNITIES, None)
        advance(connection, group, commit.episode, None, commit.usage, commit.at)


def move_members(
    connection: sqlite3.Connection, group: int, writer: ItemWriter, moves: Mapping[str, str | None]
) -> None:
    """Put entities into communities (None: into none); communities that are left without members go."""
    for entity_id, community_id in moves.items():
        move = {"group": group, "id": entity_id, "community": community_id}
        if not connection.execute(queries.MOVE_ENTITY, move).rowcount:
            raise Poison("an entity or a community that a move names is not in the graph", "moves")
    _remove_empty(connection, group, writer)


def community_view(
    connection: sqlite3.Connection, group_id: str, ids: Sequence[str], limit: int, now: int
) -> CommunityView:
    """Communities by id with their members; facts count that hold at `now`."""
    group = group_no(connection, group_id)
    if group is None:
        return CommunityView(lane_version=0)
    found = {i: c for i in dict.fromkeys(ids) if (c := read_one(connection, group, i)) is not None}
    return CommunityView(
        lane_version=lane_version(connection, group, UPDATE_COMMUNITIES),
        communities=found,
        members={i: _members(connection, group, i, now, limit) for i in found},
    )


def describe(connection: sqlite3.Connection, dimension: int, texts: CommunityTexts) -> None:
    """Write other texts for communities that stand."""
    group = enter_lane(connection, texts.group_id, UPDATE_COMMUNITIES, texts.lane_version, None)
    writer = ItemWriter(connection, group, dimension)
    for write in texts.communities:
        if read_one(connection, group, write.community.id) is not None:
            writer.community(write)
    add_spending(connection, group, texts.usage, texts.at)


def group_graph(connection: sqlite3.Connection, group_id: str, now: int) -> GroupGraph:
    """All entities of a group and how many facts join each pair at `now`; each pair once."""
    group = group_no(connection, group_id)
    if group is None:
        return GroupGraph(lane_version=0, entities=(), edges=())
    rows = connection.execute(queries.ENTITIES_OF_GROUP, {"group": group})
    entities = tuple(read_entity(body, community) for _, body, community in rows)
    edges = connection.execute(queries.EDGES, {"group": group, "now": now}).fetchall()
    return GroupGraph(
        lane_version=lane_version(connection, group, UPDATE_COMMUNITIES),
        entities=entities,
        edges=tuple(edges),
    )


def read_one(connection: sqlite3.Connection, group: int, community_id: str) -> Community | None:
    """A community with the ids of all its members."""
    place = {"group": group, "id": community_id}
    row = connection.execute(queries.COMMUNITY_BODY, place).fetchone()
    if row is None:
        return None
    return read_community(row[0], (member for (member,) in connection.execute(queries.MEMBER_IDS, place)))


def _members(
    connection: sqlite3.Connection, group: int, community_id: str, now: int, limit: int
) -> tuple[Entity, ...]:
    place = {"group": group, "id": community_id, "now": now, "limit": limit}
    rows = connection.execute(queries.MEMBERS, place)
    return tuple(read_entity(body, of) for _, body, of, _ in rows)


def _neighbourhoods(
    connection: sqlite3.Connection, group: int, query: CommunityQuery, now: int
) -> dict[str, Neighbourhood]:
    asked = {"group": group, "ids": json_list(query.entity_ids)}
    found: dict[str, Neighbourhood] = {}
    for _, body, community in connection.execute(queries.ENTITIES_BY_ID, asked).fetchall():
        entity = read_entity(body, community)
        place = {"group": group, "id": entity.id, "now": now, "limit": query.neighbour_limit}
        rows = connection.execute(queries.NEIGHBOURS, place)
        found[entity.id] = Neighbourhood(entity, {other: (weight, of) for other, weight, of in rows})
    return found


def _remove_empty(connection: sqlite3.Connection, group: int, writer: ItemWriter) -> None:
    for (no,) in connection.execute(queries.EMPTY_COMMUNITIES, {"group": group}).fetchall():
        connection.execute(queries.REMOVE_VECTOR, {"kind": "community", "no": no})
        remove_text(connection, "community", no)
        connection.execute(queries.REMOVE_COMMUNITY, {"no": no})
        writer.raise_changes()
