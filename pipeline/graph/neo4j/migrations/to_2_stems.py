"""To version 2: what full-text search counts are word stems, where it was whole words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pipeline.graph.neo4j.migrations.step import Part, Row, Step
from pipeline.model.episode import Episode
from pipeline.model.fact import Fact
from pipeline.text.analysis import search_text


def _read(pattern: str, fields: str) -> str:
    return f"""CYPHER 25
MATCH {pattern}
WHERE x.group_id >= $group AND x.uuid IS NOT NULL AND (x.group_id > $group OR x.uuid > $after)
    AND (size($within) = 0 OR x.group_id IN $within)
WITH x ORDER BY x.group_id, x.uuid LIMIT $limit
RETURN x.group_id AS group, x.uuid AS id, {fields}
"""


def _write(pattern: str) -> str:
    return f"""CYPHER 25
UNWIND $rows AS w
MATCH {pattern}
SET x.fs_text = w.text
"""


def _episodes(rows: Sequence[Row]) -> list[dict[str, Any]]:
    # A graph that Graphiti made has no episode of ours, and no analysed text.
    return [
        {
            "group": row["group"],
            "id": row["id"],
            "text": search_text(Episode.model_validate_json(row["body"]).text),
        }
        for row in rows
        if row["body"] is not None
    ]


def _facts(rows: Sequence[Row]) -> list[dict[str, Any]]:
    found = []
    for row in rows:
        if row["body"] is not None:
            fact = Fact.model_validate_json(row["body"])
            text = search_text(fact.fact, fact.source.name, fact.target.name, fact.relation)
            found.append({"group": row["group"], "id": row["id"], "text": text})
    return found


def _named(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [
        {
            "group": row["group"],
            "id": row["id"],
            "text": search_text(row["name"] or "", *(row["aliases"] or ()), row["summary"] or ""),
        }
        for row in rows
    ]


STEP = Step(
    version=2,
    meaning="full-text search counts word stems",
    parts=(
        Part(
            "episodes",
            _read("(x:Episodic)", "x.fs_episode AS body"),
            _episodes,
            _write("(x:Episodic {group_id: w.group, uuid: w.id})"),
        ),
        Part(
            "entities",
            _read("(x:Entity)", "x.name AS name, x.fs_aliases AS aliases, x.summary AS summary"),
            _named,
            _write("(x:Entity {group_id: w.group, uuid: w.id})"),
        ),
        Part(
            "facts",
            _read("()-[x:RELATES_TO]->()", "x.fs_fact AS body"),
            _facts,
            _write("()-[x:RELATES_TO {group_id: w.group, uuid: w.id}]->()"),
        ),
        Part(
            "communities",
            _read("(x:Community)", "x.name AS name, [] AS aliases, x.summary AS summary"),
            _named,
            _write("(x:Community {group_id: w.group, uuid: w.id})"),
        ),
    ),
)
