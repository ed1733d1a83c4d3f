"""The Cypher of a search: one query with a subquery per (scope, method), put together from constant pieces.

`search_query` only chooses among the pieces; every value is a parameter. A leg binds `x` (a relationship for facts,
else a node) and `score`, best first. Later subqueries work on the candidates where they are stored, so that neither
vectors nor neighbours leave the database.
"""

from __future__ import annotations

from functools import lru_cache

from pipeline.graph.neo4j.queries_around import neighbours, sources
from pipeline.graph.neo4j.queries_conditions import SearchShape
from pipeline.graph.neo4j.queries_distance import distances
from pipeline.graph.neo4j.queries_legs import text_leg, vector_leg
from pipeline.graph.neo4j.queries_targets import TARGETS, has_direction
from pipeline.graph.neo4j.queries_walk import graph_leg
from pipeline.graph.search import Method, Scope

PREFIX = "CYPHER 25 replan=skip"
"""Every pattern starts from an index that it names or that is the only one that fits, so a plan stays right while the
graph grows; without this it is made anew, for up to seconds, whenever the counts have moved."""

_MENTIONS = {
    False: "[x IN entities | COUNT { (x)<-[:MENTIONS]-(:Episodic) }]",
    True: """[x IN entities | COUNT {
        MATCH (x)<-[m:MENTIONS]-(:Episodic)
        WHERE m.created_at.epochSeconds * 1000000 + m.created_at.microsecond <= $known_at }]""",
}


def leg_column(scope: Scope, method: Method) -> str:
    """The column of a leg: a list of [group id, id, score], best first."""
    return f"{scope}_{method}"


@lru_cache(maxsize=512)
def search_query(shape: SearchShape) -> str:
    """The query of a shape; it answers one row.

    Columns: each leg's; by scope its candidates' fields ("facts"), each once, those that rank best first; by scope
    "similar_facts" with [i, j, cosine] for places in that list; "mentions", how often each of `entities` is
    mentioned; "steps", a list of [group id, entity id, steps].
    """
    parts = [PREFIX]
    columns = []
    for scope, method in shape.legs:
        leg = leg_column(scope, method)
        parts.append(f"CALL () {{{_LEGS[method](shape, scope)}\n    RETURN collect([x, score]) AS {leg}\n}}")
        columns.append(f"[hit IN {leg} | [hit[0].group_id, hit[0].uuid, hit[1]]] AS {leg}")
    for scope in shape.scopes:
        parts.append(_candidates(scope, [leg_column(of, method) for of, method in shape.legs if of is scope]))
        columns.append(f"shown_{scope} AS {scope}")
        if shape.similarities:
            parts.append(_similarities(scope))
            columns.append(f"similar_{scope}")
    if Scope.episodes in shape.scopes:
        legs = {scope: [leg_column(of, m) for of, m in shape.legs if of is scope] for scope in shape.scopes}
        if shape.neighbours:
            parts.append(neighbours(shape, legs[Scope.episodes]))
            columns += ["neighbours", "near_episodes"]
        if shape.sources and Scope.facts in legs:
            parts.append(sources(shape, legs[Scope.facts]))
            columns.append("source_episodes")
    if shape.mentions and Scope.entities in shape.scopes:
        columns.append(f"{_MENTIONS[shape.known]} AS mentions")
    if shape.hops and {Scope.facts, Scope.entities} & set(shape.scopes):
        parts.append(distances(shape))
        columns.append("steps")
    return "\n".join(parts) + "\nRETURN " + ",\n    ".join(columns)


def _candidates(scope: Scope, legs: list[str]) -> str:
    """Each candidate of a scope once, by its best rank in any leg, and its fields."""
    return f"""CALL ({", ".join(legs)}) {{
    UNWIND [{", ".join(legs)}] AS leg
    UNWIND range(0, size(leg) - 1) AS rank
    WITH leg[rank][0] AS x, min(rank) AS best ORDER BY best, x.group_id, x.uuid
    WITH x, {TARGETS[scope].fields} AS fields
    RETURN collect(x) AS {scope}, collect(fields) AS shown_{scope}
}}"""


def _similarities(scope: Scope) -> str:
    embedding = TARGETS[scope].embedding
    return f"""CALL ({scope}) {{
    WITH [x IN {scope}[..$compared] | CASE WHEN {has_direction(embedding)} THEN {embedding} END] AS vectors
    UNWIND range(0, size(vectors) - 2) AS i
    UNWIND range(i + 1, size(vectors) - 1) AS j
    WITH i, j, 2 * vector.similarity.cosine(vectors[i], vectors[j]) - 1 AS cosine
    WHERE cosine IS NOT NULL
    RETURN collect([i, j, cosine]) AS similar_{scope}
}}"""


_LEGS = {Method.bm25: text_leg, Method.cosine: vector_leg, Method.bfs: graph_leg}
