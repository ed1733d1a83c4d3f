"""The resolve_entities stage's part of the store: who may be meant, and the commit of who is."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable
from itertools import islice

from pipeline.errors import Poison
from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityView
from pipeline.graph.sqlite import queries, text
from pipeline.graph.sqlite.codec import json_list, micros, read_entity, told_json
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.graph.sqlite.writes import (
    RESOLVE_ENTITIES,
    ItemWriter,
    advance,
    enter_lane,
    group_no,
    lane_version,
    mark,
    put_mark,
)
from pipeline.graph.vector import Vector
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState

_RANK_OFFSET = 60
"""Of reciprocal rank fusion (Cormack, Clarke and Büttcher, 2009): how little the first places differ."""


def entity_view(connection: sqlite3.Connection, vectors: VectorIndex, query: EntityQuery) -> EntityView:
    """Entities by key, and look-alikes that are not found by key: by vector and by text, fused by rank."""
    group = group_no(connection, query.episode.group_id)
    if group is None:
        nothing: tuple[tuple[Entity, ...], ...] = tuple(() for _ in query.keys)
        return EntityView(mark=None, lane_version=0, by_key=nothing, similar=nothing)
    by_key: list[tuple[Entity, ...]] = []
    similar: list[tuple[Entity, ...]] = []
    for keys, terms, vector in zip(query.keys, query.texts, query.vectors, strict=True):
        rows = connection.execute(
            queries.ENTITIES_BY_KEYS, {"group": group, "keys": json_list(keys)}
        ).fetchall()
        by_key.append(tuple(read_entity(body, community) for _, body, community in rows))
        taken = {no for no, _, _ in rows}
        similar.append(_similar(connection, vectors, group, terms, vector, taken, query.limit))
    return EntityView(
        mark=mark(connection, group, query.episode.id, RESOLVE_ENTITIES),
        lane_version=lane_version(connection, group, RESOLVE_ENTITIES),
        by_key=tuple(by_key),
        similar=tuple(similar),
    )


def commit_entities(connection: sqlite3.Connection, dimension: int, commit: EntityCommit) -> None:
    """Write the entities of an episode and that it mentions them."""
    group = enter_lane(
        connection, commit.episode.group_id, RESOLVE_ENTITIES, commit.lane_version, commit.episode
    )
    known = {"group": group, "id": commit.episode.id}
    if commit.mentioned and connection.execute(queries.EPISODE_USAGE, known).fetchone() is None:
        raise Poison("the episode that mentions the entities is not in the graph", "mentioned")
    writer = ItemWriter(connection, group, dimension)
    for write in commit.entities:
        writer.entity(write, RESOLVE_ENTITIES)
    place = {"group": group, "episode": commit.episode.id, "at": micros(commit.at)}
    for entity_id in dict.fromkeys(commit.mentioned):
        told = {"place": commit.lane_version, "told": told_json(commit.told.get(entity_id, ()))}
        if not connection.execute(queries.ADD_MENTION, {**place, **told, "id": entity_id}).rowcount:
            raise Poison("an entity that the episode mentions is not in the graph", "mentioned")
    for merge in commit.merges:
        row = {"group": group, "id": merge.id, "body": merge.model_dump_json()}
        connection.execute(queries.PUT_MERGE, row)
    put_mark(connection, group, commit.episode.id, RESOLVE_ENTITIES, commit.output, commit.judged)
    advance(connection, group, commit.episode, EpisodeState.resolved, commit.usage, commit.at)


def _similar(
    connection: sqlite3.Connection,
    vectors: VectorIndex,
    group: int,
    terms: str,
    vector: Vector | None,
    taken: set[int],
    limit: int,
) -> tuple[Entity, ...]:
    scores: dict[int, float] = defaultdict(float)
    legs: list[Iterable[tuple[int, float]]] = [text.ranked(connection, "entity", [group], terms.split())]
    if vector is not None:
        legs.append(vectors.ranked(connection, "entity", [group], vector))
    for leg in legs:
        for rank, (no, _) in enumerate(
            islice((found for found in leg if found[0] not in taken), limit), start=1
        ):
            scores[no] += 1 / (_RANK_OFFSET + rank)
    best = sorted(scores, key=lambda no: (-scores[no], no))[:limit]
    rows = connection.execute(queries.ENTITIES_BY_NO, {"nos": json_list(best)}).fetchall()
    entities = {no: read_entity(body, community) for no, body, community in rows}
    return tuple(entities[no] for no in best)
