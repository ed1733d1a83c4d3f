"""What stands around the best candidates: neighbours of episodes in their threads, and the sources of facts."""

from __future__ import annotations

from pipeline.graph.neo4j.queries_conditions import SUPPORT, SearchShape, filters, visible
from pipeline.graph.neo4j.queries_read import EPISODE_FIELDS
from pipeline.graph.neo4j.queries_targets import conjoined
from pipeline.graph.search import Scope


def _centres(legs: list[str]) -> str:
    """The best of each leg, each once, as x."""
    return f"""UNWIND [{", ".join(f"{leg}[..$centres]" for leg in legs)}] AS leg
    UNWIND leg AS hit
    WITH DISTINCT hit[0] AS x"""


def neighbours(shape: SearchShape, legs: list[str]) -> str:
    """Who stands before and after the best episodes in their threads, as (earlier, later, steps), and their fields.
    The index holds a thread by time; only those of one time are put in order of arrival."""
    seen = conjoined(visible(shape, Scope.episodes) + filters(shape, Scope.episodes))

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


def sources(shape: SearchShape, legs: list[str]) -> str:
    """The last episodes that support the best facts."""
    seen = conjoined(visible(shape, Scope.episodes) + filters(shape, Scope.episodes))
    return f"""CALL ({", ".join(legs)}, episodes) {{
    {_centres(legs)}, episodes
    WITH x.group_id AS group_id, ({SUPPORT[shape.known]}) AS support, episodes
    UNWIND support[-$sources..] AS id
    WITH DISTINCT group_id, id, episodes
    MATCH (x:Episodic {{group_id: group_id, uuid: id}})
    WHERE NOT x IN episodes{seen}
    RETURN collect({EPISODE_FIELDS}) AS source_episodes
}}"""
