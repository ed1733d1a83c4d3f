"""The legs of a search that find by words and by vectors: each binds `x` and `score`, best first."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_conditions import SearchShape, after_index, filters, inside_index, visible
from pipeline.graph.neo4j.queries_targets import TARGETS, conjoined, has_direction
from pipeline.graph.search import Scope


def text_leg(shape: SearchShape, scope: Scope) -> str:
    """The best by the index, which knows the groups (and roughly which facts are over). What it cannot check comes
    after it; when that leaves too few of a full answer, the index is asked for all that it has."""
    call = TARGETS[scope].text_call
    after = visible(shape, scope) + filters(shape, scope)
    keep = f"""WITH x, score WHERE x.group_id IN $group_ids{conjoined(after)}
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


def vector_leg(shape: SearchShape, scope: Scope) -> str:
    """Nearest by cosine. How large the group is decides how they are looked for, and is counted up to `$small`: all of
    a small one is measured; of a larger one the index brings the nearest, with its own filters applied while it looks.
    What it cannot apply comes after it; when that leaves too few of a full answer, everything of the group that passes
    is measured instead."""
    target = TARGETS[scope]
    inside, after = inside_index(shape, scope), after_index(shape, scope)
    vector = "$vector_episodes" if scope is Scope.episodes else "$vector"
    measure = f"""WITH x, 2 * vector.similarity.cosine({target.embedding}, {vector}) - 1 AS score
        ORDER BY score DESC, x.uuid LIMIT $limit
        RETURN collect([x, score]) AS"""
    of_group = f"""MATCH {target.pattern} USING INDEX x:{target.kind}(group_id, uuid)
            WHERE x.group_id = group_id AND x.uuid IS NOT NULL"""
    scan = f"{of_group} AND {has_direction(target.embedding)}{conjoined(inside[1:] + after)}"
    # With conditions behind the index all that it brings is looked at; else the first of it is enough.
    first = "" if after else "WITH x ORDER BY nearness DESC LIMIT $measured "
    too_few = " OR (size(near) >= $fetch AND size(hits) < $limit)" if after else ""
    return f"""
    UNWIND $parts_{scope} AS part
    WITH part[0] AS group_id, part[1] AS kind
    CALL (group_id) {{
        {of_group}
        WITH x LIMIT $small + 1
        RETURN count(x) AS size
    }}
    CALL (group_id, kind, size) {{
        WHEN size > $small THEN {{
            CALL (group_id, kind) {{
                MATCH {target.pattern} SEARCH x IN (
                    VECTOR INDEX {target.vector_index} FOR {vector} WHERE {" AND ".join(inside)} LIMIT $fetch
                ) SCORE AS nearness
                {first}RETURN collect(x) AS near
            }}
            CALL (near) {{
                UNWIND near AS x
                WITH x WHERE true{conjoined(after)}
                {measure} hits
            }}
            RETURN near, hits
        }} ELSE {{ RETURN [] AS near, [] AS hits }}
    }}
    CALL (group_id, kind, size, near, hits) {{
        WHEN size <= $small{too_few} THEN {{
            {scan}
            {measure} found
        }} ELSE {{ RETURN hits AS found }}
    }}
    UNWIND found AS hit
    WITH hit[0] AS x, hit[1] AS score ORDER BY score DESC, x.group_id, x.uuid LIMIT $limit"""
