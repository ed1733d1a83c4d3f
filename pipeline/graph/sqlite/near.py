"""Facts that may say the same as a statement or contradict it: of the same pair, and near by meaning."""

from __future__ import annotations

import sqlite3

from pipeline.graph.fact_port import SCANNED_FACTS, SOURCE_CHARACTERS, FactQuery, Look, NearFact
from pipeline.graph.sqlite import queries
from pipeline.graph.sqlite.codec import json_list, micros
from pipeline.graph.sqlite.vectors import VectorIndex
from pipeline.model.fact import Fact


def near_facts(
    connection: sqlite3.Connection, vectors: VectorIndex, group: int, query: FactQuery
) -> tuple[tuple[NearFact, ...], ...]:
    """For each look its facts; see FactGraph."""
    return tuple(_of(connection, vectors, group, look, query.near_limit) for look in query.looks)


def source_of(connection: sqlite3.Connection, group: int, episode_id: str) -> str:
    """The beginning of an episode's content; empty when the episode is not stored."""
    row = connection.execute(queries.EPISODE_CONTENT, {"group": group, "id": episode_id}).fetchone()
    return str(row[0])[:SOURCE_CHARACTERS] if row is not None and row[0] is not None else ""


def _of(
    connection: sqlite3.Connection, vectors: VectorIndex, group: int, look: Look, limit: int
) -> tuple[NearFact, ...]:
    place = {"group": group, "subject": look.subject, "object": look.object, "limit": limit}
    nos = [no for (no,) in connection.execute(queries.FACTS_OF_PAIR, place)]
    if look.vector is not None and len(nos) < limit:
        around: set[int] = set()
        for end in {look.subject, look.object}:
            of_end = {"group": group, "end": end, "at": micros(look.at), "limit": SCANNED_FACTS}
            around |= {no for (no,) in connection.execute(queries.FACTS_OF_END, of_end)}
        ranked = vectors.nearest(connection, "fact", sorted(around.difference(nos)), look.vector)
        nos += [no for no, _ in ranked[: limit - len(nos)]]
    bodies = dict(connection.execute(queries.FACTS_BY_NO, {"nos": json_list(nos)}).fetchall())
    facts = [Fact.model_validate_json(bodies[no]) for no in nos]
    return tuple(NearFact(f, source_of(connection, group, (f.episodes_at() or ("",))[-1])) for f in facts)
