"""The Cypher of a search: one query with a subquery per (scope, method), put together from constant pieces.

`search_query` only chooses among the pieces; every value is a parameter. A leg binds `x` (a relationship for facts,
else a node) and `score`, best first. Later subqueries work on the candidates where they are stored, so that neither
vectors nor neighbours leave the database.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from pipeline.graph.neo4j.queries_conditions import (
    SUPPORT,
    SearchShape,
    after_index,
    filters,
    inside_index,
    visible,
)
from pipeline.graph.neo4j.queries_read import COMMUNITY_FIELDS, ENTITY_FIELDS, EPISODE_FIELDS, FACT_FIELDS
from pipeline.graph.search import Method, Scope

PREFIX = "CYPHER 25 replan=skip"
"""Every pattern starts from an index that it names or that is the only one that fits, so a plan stays right while the
graph grows; without this it is made anew, for up to seconds, whenever the counts have moved."""
MAX_DEPTH = 3
MAX_HOPS = 10
_HOPS = {n: f"{{0,{n}}}" for n in range(1, MAX_HOPS + 1)}


@dataclass(frozen=True)
class _Target:
    """How a scope is reached: the pattern that binds x, its indexes, and the fields it is shown with."""

    pattern: str
    kind: str
    embedding: str
    vector_index: str
    text_call: str
    fields: str


_TARGETS = {
    Scope.facts: _Target(
        "()-[x:RELATES_TO]->()",
        "RELATES_TO",
        "x.fact_embedding",
        "fact_embedding",
        "db.index.fulltext.queryRelationships('fact_text', text) YIELD relationship AS x, score",
        FACT_FIELDS,
    ),
    Scope.entities: _Target(
        "(x:Entity)",
        "Entity",
        "x.name_embedding",
        "entity_name_embedding",
        "db.index.fulltext.queryNodes('entity_text', text) YIELD node AS x, score",
        ENTITY_FIELDS,
    ),
    Scope.episodes: _Target(
        "(x:Episodic)",
        "Episodic",
        "x.content_embedding",
        "episode_content_embedding",
        "db.index.fulltext.queryNodes('episode_text', text) YIELD node AS x, score",
        EPISODE_FIELDS,
    ),
    Scope.communities: _Target(
        "(x:Community)",
        "Community",
        "x.name_embedding",
        "community_name_embedding",
        "db.index.fulltext.queryNodes('community_text', text) YIELD node AS x, score",
        COMMUNITY_FIELDS,
    ),
}

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
            parts.append(_neighbours(shape, legs[Scope.episodes]))
            columns += ["neighbours", "near_episodes"]
        if shape.sources and Scope.facts in legs:
            parts.append(_sources(shape, legs[Scope.facts]))
            columns.append("source_episodes")
    if shape.mentions and Scope.entities in shape.scopes:
        columns.append(f"{_MENTIONS[shape.known]} AS mentions")
    if shape.hops and {Scope.facts, Scope.entities} & set(shape.scopes):
        parts.append(_distances(shape))
        columns.append("steps")
    return "\n".join(parts) + "\nRETURN " + ",\n    ".join(columns)


def _and(conditions: list[str]) -> str:
    return "".join(f" AND {each}" for each in conditions)


def _has_direction(embedding: str) -> str:
    """Whether there is a vector and it is not all zeros: the cosine with such a one is an error in Neo4j."""
    return f"any(value IN {embedding} WHERE value <> 0)"


def _text_leg(shape: SearchShape, scope: Scope) -> str:
    """The best by the index, which knows the groups (and roughly which facts are over). What it cannot check comes
    after it; when that leaves too few of a full answer, the index is asked for all that it has."""
    call = _TARGETS[scope].text_call
    after = visible(shape, scope) + filters(shape, scope)
    keep = f"""WITH x, score WHERE x.group_id IN $group_ids{_and(after)}
        WITH x, score ORDER BY score DESC, x.group_id, x.uuid LIMIT $limit
        RETURN collect([x, score]) AS"""
    widen = f"""
    CALL (text, size, hits) {{
        WHEN size >= $text_fetch AND size(hits) < $limit THEN {{
            CALL {call}
            {keep} found
        }} ELSE {{ RETURN hits AS found }}
    }}"""
    return f"""
    UNWIND $texts_{scope} AS text
    CALL (text) {{
        CALL {call.replace("text)", "text, {limit: $text_fetch})")}
        RETURN collect([x, score]) AS first
    }}
    WITH text, first, size(first) AS size
    CALL (first) {{
        UNWIND first AS hit
        WITH hit[0] AS x, hit[1] AS score
        {keep} hits
    }}{widen if after else ""}
    UNWIND {"found" if after else "hits"} AS hit
    WITH hit[0] AS x, hit[1] AS score ORDER BY score DESC, x.group_id, x.uuid LIMIT $limit"""


def _vector_leg(shape: SearchShape, scope: Scope) -> str:
    """Nearest by the index, which applies its own filters while it looks. What it cannot apply comes after it; when
    that leaves too few of a full answer, everything of the group that passes is measured instead."""
    target = _TARGETS[scope]
    inside, after = inside_index(shape, scope), after_index(shape, scope)
    vector = "$vector_episodes" if scope is Scope.episodes else "$vector"
    measure = f"""WITH x, 2 * vector.similarity.cosine({target.embedding}, {vector}) - 1 AS score
        ORDER BY score DESC, x.uuid LIMIT $limit
        RETURN collect([x, score]) AS"""
    widen = f"""
    CALL (group_id, kind, near, hits) {{
        WHEN size(near) >= $fetch AND size(hits) < $limit THEN {{
            MATCH {target.pattern} USING INDEX x:{target.kind}(group_id, uuid)
            WHERE x.uuid IS NOT NULL AND {_has_direction(target.embedding)}{_and(inside + after)}
            {measure} found
        }} ELSE {{ RETURN hits AS found }}
    }}"""
    return f"""
    UNWIND $parts_{scope} AS part
    WITH part[0] AS group_id, part[1] AS kind
    CALL (group_id, kind) {{
        MATCH {target.pattern} SEARCH x IN (
            VECTOR INDEX {target.vector_index} FOR {vector} WHERE {" AND ".join(inside)} LIMIT $fetch
        )
        RETURN collect(x) AS near
    }}
    CALL (near) {{
        UNWIND near AS x
        WITH x WHERE true{_and(after)}
        {measure} hits
    }}{widen if after else ""}
    UNWIND {"found" if after else "hits"} AS hit
    WITH hit[0] AS x, hit[1] AS score ORDER BY score DESC, x.group_id, x.uuid LIMIT $limit"""


def _graph_leg(shape: SearchShape, scope: Scope) -> str:
    """Facts or entities around the origins, nearest first, of equally near ones the latest learned first."""
    if scope is Scope.facts:
        candidates = _facts_around(shape)
    else:
        candidates = f"""{_reached(shape, shape.depth)}
    WITH n AS x, min(steps) AS steps WHERE steps >= 1{_and(visible(shape, scope) + filters(shape, scope))}"""
    return f"""{candidates}
    WITH x, 1.0 / steps AS score ORDER BY score DESC, x.fs_created DESC, x.uuid LIMIT $limit"""


def _facts_around(shape: SearchShape) -> str:
    """Facts of the entities within depth - 1 steps, and those that an episode among the origins supports."""
    seen = _and(visible(shape, Scope.facts) + filters(shape, Scope.facts))
    return f"""
    CALL () {{{_reached(shape, shape.depth - 1)}
        WITH n, min(steps) AS steps ORDER BY steps
        CALL (n) {{
            MATCH (n)-[x:RELATES_TO]-(:Entity) WHERE x.group_id = n.group_id{seen}
            RETURN x LIMIT $visited
        }}
        RETURN x, steps + 1 AS steps LIMIT $followed
        UNION
        UNWIND $origins AS id UNWIND $group_ids AS group_id
        MATCH (e:Episodic {{group_id: group_id, uuid: id}})-[:MENTIONS]->(:Entity)-[x:RELATES_TO]-(:Entity)
        WHERE e.uuid IN {SUPPORT[shape.known]}{seen}
        RETURN x, 1 AS steps
    }}
    WITH x, min(steps) AS steps"""


def _reached(shape: SearchShape, reach: int) -> str:
    """Entities n within `reach` steps of an origin; what an episode mentions is one step away from it. The search for
    shortest paths goes outward, so the limit cuts off the farthest."""
    walk = f"""MATCH path = ANY SHORTEST (start)-{_edge(shape)}-{_HOPS.get(reach)}(n:Entity)
            WHERE n.group_id = start.group_id
            RETURN n, base + length(path) AS steps LIMIT $visited"""
    return f"""
        CALL () {{
            UNWIND $origins AS id UNWIND $group_ids AS group_id
            MATCH (start:Entity {{group_id: group_id, uuid: id}})
            RETURN start, 0 AS base
            UNION
            UNWIND $origins AS id UNWIND $group_ids AS group_id
            MATCH (:Episodic {{group_id: group_id, uuid: id}})-[:MENTIONS]->(start:Entity)
            RETURN start, 1 AS base
        }}
        CALL (start, base) {{
            {walk if reach else "RETURN start AS n, base AS steps"}
        }}
        WITH n, steps WHERE steps <= {reach}"""


def _edge(shape: SearchShape) -> str:
    return f"[x:RELATES_TO WHERE {' AND '.join(visible(shape, Scope.facts))}]"


def _candidates(scope: Scope, legs: list[str]) -> str:
    """Each candidate of a scope once, by its best rank in any leg, and its fields."""
    return f"""CALL ({", ".join(legs)}) {{
    UNWIND [{", ".join(legs)}] AS leg
    UNWIND range(0, size(leg) - 1) AS rank
    WITH leg[rank][0] AS x, min(rank) AS best ORDER BY best, x.group_id, x.uuid
    WITH x, {_TARGETS[scope].fields} AS fields
    RETURN collect(x) AS {scope}, collect(fields) AS shown_{scope}
}}"""


def _similarities(scope: Scope) -> str:
    embedding = _TARGETS[scope].embedding
    return f"""CALL ({scope}) {{
    WITH [x IN {scope}[..$compared] | CASE WHEN {_has_direction(embedding)} THEN {embedding} END] AS vectors
    UNWIND range(0, size(vectors) - 2) AS i
    UNWIND range(i + 1, size(vectors) - 1) AS j
    WITH i, j, 2 * vector.similarity.cosine(vectors[i], vectors[j]) - 1 AS cosine
    WHERE cosine IS NOT NULL
    RETURN collect([i, j, cosine]) AS similar_{scope}
}}"""


def _centres(legs: list[str]) -> str:
    """The best of each leg, each once, as x."""
    return f"""UNWIND [{", ".join(f"{leg}[..$centres]" for leg in legs)}] AS leg
    UNWIND leg AS hit
    WITH DISTINCT hit[0] AS x"""


def _neighbours(shape: SearchShape, legs: list[str]) -> str:
    """Who stands before and after the best episodes in their threads, as (earlier, later, steps), and their fields.
    The index holds a thread by time; only those of one time are put in order of arrival."""
    seen = _and(visible(shape, Scope.episodes) + filters(shape, Scope.episodes))

    def side(before: bool) -> str:
        than, order = ("<", " DESC") if before else (">", "")
        pair = "[n, x, steps + 1]" if before else "[x, n, steps + 1]"
        return f"""CALL (x) {{
        MATCH (n:Episodic)
        WHERE n.group_id = x.group_id AND n.fs_thread = x.fs_thread AND n.fs_reference {than}= x.fs_reference
            AND (n.fs_reference {than} x.fs_reference OR n.fs_sequence {than} x.fs_sequence)
        WITH n ORDER BY n.fs_reference{order}, n.fs_sequence{order} LIMIT $reach
        WITH collect(n) AS near
        UNWIND range(0, size(near) - 1) AS steps
        WITH near[steps] AS n, steps
        RETURN collect({pair}) AS {"before" if before else "after"}
    }}"""

    return f"""CALL ({", ".join(legs)}) {{
    {_centres(legs)}
    WHERE x.fs_thread IS NOT NULL
    {side(before=True)}
    {side(before=False)}
    UNWIND before + after AS pair
    WITH DISTINCT pair[0] AS a, pair[1] AS b, pair[2] AS steps
    RETURN collect([a, b, steps]) AS pairs
}}
CALL (pairs, episodes) {{
    UNWIND pairs AS pair
    UNWIND pair[..2] AS x
    WITH DISTINCT x WHERE NOT x IN episodes{seen}
    RETURN collect({EPISODE_FIELDS}) AS near_episodes
}}
WITH *, [pair IN pairs | [pair[0].group_id, pair[0].uuid, pair[1].uuid, pair[2]]] AS neighbours"""


def _sources(shape: SearchShape, legs: list[str]) -> str:
    """The last episodes that support the best facts."""
    seen = _and(visible(shape, Scope.episodes) + filters(shape, Scope.episodes))
    return f"""CALL ({", ".join(legs)}, episodes) {{
    {_centres(legs)}, episodes
    WITH x.group_id AS group_id, ({SUPPORT[shape.known]}) AS support, episodes
    UNWIND support[-$sources..] AS id
    WITH DISTINCT group_id, id, episodes
    MATCH (x:Episodic {{group_id: group_id, uuid: id}})
    WHERE NOT x IN episodes{seen}
    RETURN collect({EPISODE_FIELDS}) AS source_episodes
}}"""


def _distances(shape: SearchShape) -> str:
    """Steps from the centre to each end of the candidates, over facts that can be seen, whatever their direction."""
    ends = []
    if Scope.facts in shape.scopes:
        ends.append("[x IN facts | startNode(x)] + [x IN facts | endNode(x)]")
    if Scope.entities in shape.scopes:
        ends.append("entities")
    imported = ", ".join(scope for scope in (Scope.facts, Scope.entities) if scope in shape.scopes)
    return f"""CALL ({imported}) {{
    UNWIND {" + ".join(ends)} AS n
    WITH DISTINCT n
    MATCH (centre:Entity {{group_id: n.group_id, uuid: $centre}})
    MATCH path = ANY SHORTEST (centre)-{_edge(shape)}-{_HOPS[shape.hops]}(n)
    RETURN collect([n.group_id, n.uuid, length(path)]) AS steps
}}"""


_LEGS = {Method.bm25: _text_leg, Method.cosine: _vector_leg, Method.bfs: _graph_leg}
