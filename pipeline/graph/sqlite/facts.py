"""The resolve_facts stage's part of the store: evidence and facts of what an episode speaks of, and their commit."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable

from pipeline.graph.fact_port import FactCommit, FactGraph, FactQuery
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import json_list, read_entity
from pipeline.graph.sqlite.near import near_facts, source_of
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.graph.sqlite.writes import (
    RESOLVE_FACTS,
    ItemWriter,
    advance,
    enter_lane,
    group_no,
    lane_version,
    mark,
    put_mark,
)
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef, EpisodeState, Usage
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence


def fact_graph(connection: sqlite3.Connection, vectors: VectorIndex, query: FactQuery) -> FactGraph:
    """Evidence of the triplets and of their whole slots, the facts of what occurs in it, and the entities asked for."""
    group = group_no(connection, query.episode.group_id)
    if group is None:
        return FactGraph(mark=None, lane_version=0, near=((),) * len(query.looks))
    evidence = _evidence(connection, group, query)
    facts = _facts(connection, group, evidence)
    ends = [end.id for fact in facts for end in (fact.source, fact.target)]
    return FactGraph(
        mark=mark(connection, group, query.episode.id, RESOLVE_FACTS),
        lane_version=lane_version(connection, group, RESOLVE_FACTS),
        evidence=evidence,
        facts=facts,
        entities=_entities(connection, group, tuple(dict.fromkeys((*query.entity_ids, *ends)))),
        near=near_facts(connection, vectors, group, query),
        source=source_of(connection, group, query.episode.id) if query.looks else "",
    )


def facts_of(connection: sqlite3.Connection, group_id: str, entity_ids: Iterable[str]) -> tuple[Fact, ...]:
    """Every fact, believed or not, that has one of the entities at an end."""
    place = {"group": group_no(connection, group_id), "ids": json_list(entity_ids)}
    rows = connection.execute(queries.FACTS_OF_ENTITIES, place).fetchall()
    return tuple(Fact.model_validate_json(body) for _, body in rows)


def evidence_by_id(connection: sqlite3.Connection, group_id: str, ids: Iterable[str]) -> tuple[Evidence, ...]:
    """The evidence of these ids, as far as it is there."""
    place = {"group": group_no(connection, group_id), "ids": json_list(ids)}
    rows = connection.execute(queries.EVIDENCE_BY_ID, place).fetchall()
    return tuple(Evidence.model_validate_json(body) for (body,) in rows)


def commit_facts(connection: sqlite3.Connection, dimension: int, commit: FactCommit) -> None:
    """Write evidence, facts and the entities whose summary they change."""
    group = enter_lane(
        connection, commit.episode.group_id, RESOLVE_FACTS, commit.lane_version, commit.episode
    )
    connection.executemany(queries.PUT_EVIDENCE, [evidence_row(group, item) for item in commit.evidence])
    writer = ItemWriter(connection, group, dimension)
    for entity in commit.entities:
        writer.entity(entity, RESOLVE_FACTS)
    for fact in commit.facts:
        writer.fact(fact)
    put_mark(connection, group, commit.episode.id, RESOLVE_FACTS, commit.output, commit.judged)
    advance(connection, group, commit.episode, None, commit.usage, commit.at)


def settle(connection: sqlite3.Connection, episode: EpisodeRef) -> None:
    """Set the state `committed`, if the facts of the episode are."""
    group = group_no(connection, episode.group_id)
    if group is not None and mark(connection, group, episode.id, RESOLVE_FACTS) is not None:
        advance(connection, group, episode, EpisodeState.committed, Usage())


def _evidence(connection: sqlite3.Connection, group: int, query: FactQuery) -> tuple[Evidence, ...]:
    bodies: dict[int, str] = {}
    for triplet in query.triplets:
        place = {
            "group": group,
            "subject": triplet.subject,
            "relation": triplet.relation,
            "object": triplet.object,
        }
        bodies.update(connection.execute(queries.EVIDENCE_OF_TRIPLET, place).fetchall())
        if triplet.whole_slot:
            bodies.update(connection.execute(queries.EVIDENCE_OF_SLOT, place).fetchall())
        if triplet.whole_slot and triplet.symmetric:
            bodies.update(connection.execute(queries.EVIDENCE_OF_ENDS, place).fetchall())
    return tuple(Evidence.model_validate_json(bodies[no]) for no in sorted(bodies))


def _facts(connection: sqlite3.Connection, group: int, evidence: tuple[Evidence, ...]) -> tuple[Fact, ...]:
    bodies: dict[int, str] = {}
    for subject, relation, value in dict.fromkeys((e.subject, e.relation, e.object) for e in evidence):
        place = {"group": group, "subject": subject, "relation": relation, "object": value}
        bodies.update(connection.execute(queries.FACTS_OF_TRIPLET, place).fetchall())
    return tuple(Fact.model_validate_json(bodies[no]) for no in sorted(bodies))


def _entities(connection: sqlite3.Connection, group: int, ids: tuple[str, ...]) -> dict[str, Entity]:
    rows = connection.execute(queries.ENTITIES_BY_ID, {"group": group, "ids": json_list(ids)})
    entities = [read_entity(body, community) for _, body, community in rows]
    return {entity.id: entity for entity in entities}


def evidence_row(group: int, evidence: Evidence) -> dict[str, object]:
    """The columns of a piece of evidence."""
    return {
        "group": group,
        "id": evidence.id,
        "subject": evidence.subject,
        "relation": evidence.relation,
        "object": evidence.object,
        "cardinality": evidence.cardinality,
        "body": evidence.model_dump_json(),
    }
