"""The breadth-first leg of a search: what lies around the origins, binding `x` and `score`, nearest first."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_conditions import SUPPORT, SearchShape, filters, visible
from pipeline.graph.neo4j.queries_targets import conjoined
from pipeline.graph.search import Scope

MAX_DEPTH = 3
_HOPS = {n: f"{{0,{n}}}" for n in range(1, MAX_DEPTH + 1)}


def graph_leg(shape: SearchShape, scope: Scope) -> str:
    """Facts or entities around the origins, nearest first, of equally near ones the latest learned first."""
    if scope is Scope.facts:
        candidates = _facts_around(shape)
    else:
        candidates = f"""{_reached(shape, shape.depth)}
    WITH n AS x, min(steps) AS steps WHERE steps >= 1{conjoined(visible(shape, scope) + filters(shape, scope))}"""
    return f"""{candidates}
    WITH x, 1.0 / steps AS score ORDER BY score DESC, x.fs_created DESC, x.uuid LIMIT $limit"""


def _facts_around(shape: SearchShape) -> str:
    """Facts of the entities within depth - 1 steps, and those that an episode among the origins supports."""
    seen = conjoined(visible(shape, Scope.facts) + filters(shape, Scope.facts))
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
