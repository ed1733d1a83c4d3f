"""Steps from a centre to the ends of the candidates: breadth-first from the centre, a level at a time for all at once.

A search for a path to each candidate reads the facts of every hub between them again and again. Here each level is
looked at from both sides: the entities around those of the level before, at most `$level_entities`, and the candidates that are
left, each for a fact that leads into the level before. Of an entity `$level_facts_each` facts are read at most, of a level
`$level_facts`, so that the time does not grow with the graph. A distance is exact unless the way leads between two
entities that both have more visible facts than that; then it may come out longer, or not at all. A centre whose
candidates have all been reached is left alone.
"""

from __future__ import annotations

from pipeline.graph.neo4j.queries_conditions import SearchShape, visible
from pipeline.graph.search import Scope

MAX_HOPS = 10


def distances(shape: SearchShape) -> str:
    """Binds `steps`: a list of [group id, entity id, steps] for those that are within the shape's hops."""
    ends = []
    if Scope.facts in shape.scopes:
        ends.append("[x IN facts | startNode(x)] + [x IN facts | endNode(x)]")
    if Scope.entities in shape.scopes:
        ends.append("entities")
    imported = ", ".join(scope for scope in (Scope.facts, Scope.entities) if scope in shape.scopes)
    levels = range(shape.hops + 1)
    return f"""CALL ({imported}) {{
    UNWIND {" + ".join(ends)} AS n
    WITH collect(DISTINCT n) AS ends
    CALL () {{
        UNWIND $group_ids AS group_id
        MATCH (n:Entity {{group_id: group_id, uuid: $centre}})
        RETURN collect(n) AS level0
    }}
    WITH level0, [n IN ends WHERE n IN level0] AS found0, [n IN ends WHERE NOT n IN level0] AS left0
    {"".join(_level(shape, step) for step in levels[1:])}
    RETURN {" + ".join(f"[n IN found{step} | [n.group_id, n.uuid, {step}]]" for step in levels)} AS steps
}}"""


def _level(shape: SearchShape, step: int) -> str:
    seen = " AND ".join(visible(shape, Scope.facts))
    last = step - 1
    return f"""
    CALL (level{last}, left{last}) {{
        UNWIND CASE WHEN size(left{last}) = 0 THEN [] ELSE level{last} END AS n
        CALL (n) {{
            MATCH (n)-[x:RELATES_TO]-(m) WHERE m.group_id = n.group_id AND {seen}
            RETURN m LIMIT $level_facts_each
        }}
        WITH m LIMIT $level_facts
        WITH DISTINCT m LIMIT $level_entities
        RETURN collect(m) AS level{step}
    }}
    CALL (level{last}, level{step}, left{last}) {{
        UNWIND CASE WHEN size(level{last}) = 0 THEN [] ELSE left{last} END AS n
        CALL (n, level{last}, level{step}) {{
            WHEN n IN level{step} THEN RETURN true AS reached
            ELSE {{
                OPTIONAL CALL (n, level{last}) {{
                    MATCH (n)-[x:RELATES_TO]-(m) WHERE {seen}
                    WITH m, level{last} LIMIT $level_facts_each
                    WITH m WHERE m IN level{last}
                    RETURN true AS hit LIMIT 1
                }}
                RETURN coalesce(hit, false) AS reached
            }}
        }}
        RETURN collect(CASE WHEN reached THEN n END) AS found{step},
            collect(CASE WHEN NOT reached THEN n END) AS left{step}
    }}"""
