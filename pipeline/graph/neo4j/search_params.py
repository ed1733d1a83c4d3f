"""From a SearchPlan to the shape of its query and the parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from pipeline.graph.neo4j.codec import UNBOUNDED_FUTURE, UNBOUNDED_PAST, index_key, micros, scope_token, tag
from pipeline.graph.neo4j.queries_conditions import SearchShape
from pipeline.graph.neo4j.queries_distance import MAX_HOPS
from pipeline.graph.neo4j.queries_walk import MAX_DEPTH
from pipeline.graph.search import CENTRES, SOURCES, Method, Scope, SearchPlan, TimeRange

COMPARED = 60
"""Candidates of a scope, best first, among which similarities are measured: at most 1,770 pairs."""
VISITED = 2000
"""Entities reached from one origin, and facts followed from one entity, by a breadth-first leg."""
FOLLOWED = 10_000
"""Facts that a breadth-first leg looks at in all, nearest first."""
LEVEL_FACTS_EACH = 100
"""Facts of one entity that are read for a level of distances; see queries_distance."""
LEVEL_FACTS = 2000
"""Facts that are read outward for a level of distances."""
LEVEL_ENTITIES = 1000
"""Entities of a level of distances."""
OVERFETCH = 3
"""Times `limit` whose vectors are measured again exactly, and that the text index is asked for."""
SEARCHED, MOST_SEARCHED = 16, 1000
"""Times `limit` that the vector index looks for, and the most: the more it looks for, the less it misses of the nearest.
Measured, see docs/retrieval.md."""
SMALL = 1000
"""Items of a group up to which all of them are measured instead of asking the vector index: at 1,000 both take the same
time, see docs/retrieval.md."""
FILTERED_FETCH = 200
"""At least so many when conditions are checked behind the index, before all of the group is measured."""
GROUPS_PER_TEXT = 256
"""Groups in one full-text query: with the terms it stays below the 1,024 clauses that the index allows."""
STILL_NOW = timedelta(seconds=1)
"""How long ago `as_of` may be to count as now. Facts that had ended when they were last written are then skipped
inside the full-text index."""


def shape_of(plan: SearchPlan) -> SearchShape:
    """The shape of a plan. A method that has nothing to go by (no terms, no vector, no origins) has no leg, and
    breadth-first leads to facts and entities only."""
    given = {
        Method.bm25: set(Scope) if any(term.isalnum() for term in plan.terms) else set(),
        Method.cosine: set(Scope) if plan.vector is not None and any(plan.vector) else set(),
        Method.bfs: {Scope.facts, Scope.entities} if plan.bfs_origins else set(),
    }
    legs = ((s, m) for s in dict.fromkeys(plan.scopes) for m in dict.fromkeys(plan.methods) if s in given[m])
    wanted = plan.filters
    return SearchShape(
        legs=tuple(legs),
        at=plan.as_of is not None,
        known=plan.known_at is not None,
        # Every entity bears the label Entity, so asking for it asks for nothing.
        by_type=bool(wanted.entity_types) and "Entity" not in wanted.entity_types,
        by_relation=bool(wanted.relations),
        by_metadata=bool(wanted.metadata),
        by_valid=bool(wanted.valid_at),
        by_invalid=bool(wanted.invalid_at),
        by_created=bool(wanted.created_at),
        depth=min(max(plan.bfs_depth, 1), MAX_DEPTH),
        hops=min(max(plan.max_distance, 1), MAX_HOPS) if plan.distances_from is not None else 0,
        similarities=plan.similarities,
        mentions=plan.mentions,
        neighbours=plan.neighbours > 0,
        sources=plan.sources,
    )


def params_of(plan: SearchPlan, shape: SearchShape, now: datetime) -> dict[str, Any]:
    """The parameters of the shape's query."""
    wanted = plan.filters
    groups = list(dict.fromkeys(plan.group_ids))
    types = [index_key(each) for each in wanted.entity_types] if shape.by_type else []
    relations = [index_key(each) for each in wanted.relations]
    params: dict[str, Any] = {
        "group_ids": groups,
        "limit": plan.limit,
        "fetch": max(plan.limit * OVERFETCH, min(plan.limit * SEARCHED, MOST_SEARCHED)),
        "measured": plan.limit * OVERFETCH,
        "text_fetch": max(plan.limit * OVERFETCH, FILTERED_FETCH),
        "small": SMALL,
        "never": UNBOUNDED_FUTURE,
        "as_of": None if plan.as_of is None else micros(plan.as_of),
        "known_at": None if plan.known_at is None else micros(plan.known_at),
        "vector": None if plan.vector is None else list(plan.vector),
        "entity_types": types,
        "relations": relations,
        "tags": [tag(key, value) for key, value in wanted.metadata.items()],
        "valid_at": [_bounds(each) for each in wanted.valid_at],
        "invalid_at": [_bounds(each) for each in wanted.invalid_at],
        "created_at": [_bounds(each) for each in wanted.created_at],
        "origins": list(dict.fromkeys(plan.bfs_origins)),
        "visited": VISITED,
        "followed": FOLLOWED,
        "level_facts_each": LEVEL_FACTS_EACH,
        "level_facts": LEVEL_FACTS,
        "level_entities": LEVEL_ENTITIES,
        "compared": COMPARED,
        "centre": plan.distances_from,
        "centres": CENTRES,
        "reach": plan.neighbours,
        "sources": SOURCES,
    }
    params |= _spans(shape, params)
    open_only = plan.known_at is None and plan.as_of is not None and plan.as_of >= now - STILL_NOW
    if (Scope.episodes, Method.cosine) in shape.legs:
        params["vector_episodes"] = list(plan.vector_of(Scope.episodes) or ())
    for scope in shape.scopes:
        kinds: Sequence[str | None] = {Scope.facts: relations, Scope.entities: types}.get(scope, ()) or (
            None,
        )
        params[f"parts_{scope}"] = [[group, kind] for group in groups for kind in dict.fromkeys(kinds)]
        params[f"texts_{scope}"] = _texts(plan.terms, groups, open_only and scope is Scope.facts)
    return params


def _spans(shape: SearchShape, params: Mapping[str, Any]) -> dict[str, int]:
    """For each filter by time all of its ranges as one; those of facts only as far as they hold at `as_of`."""
    spans: dict[str, int] = {}
    for name in ("valid_at", "invalid_at", "created_at"):
        if ranges := params[name]:
            spans[f"{name}_first"] = min(first for first, _ in ranges)
            spans[f"{name}_behind"] = max(behind for _, behind in ranges)
    if shape.by_valid:
        last = params["as_of"] + 1 if shape.at else UNBOUNDED_FUTURE
        spans["starts_first"] = spans["valid_at_first"]
        spans["starts_behind"] = min(spans["valid_at_behind"], last)
    if shape.by_invalid:
        earliest = params["as_of"] + 1 if shape.at else UNBOUNDED_PAST
        spans["ends_first"] = max(spans["invalid_at_first"], earliest)
        spans["ends_behind"] = spans["invalid_at_behind"]
    return spans


def _texts(terms: Sequence[str], groups: Sequence[str], open_only: bool) -> list[str]:
    # Terms of the text analysis are letters and digits. Whatever else a caller hands over is no term of any text,
    # and lower case keeps AND, OR and NOT from being read as operators.
    words = " ".join(term.lower() for term in terms if term.isalnum())
    queries = []
    for start in range(0, len(groups), GROUPS_PER_TEXT):
        tokens = (scope_token(group) for group in groups[start : start + GROUPS_PER_TEXT])
        scope = " ".join(f"fs_scope:{token}{'n' if open_only else ''}^0" for token in tokens)
        queries.append(f"+({scope}) +fs_text:({words})")
    return queries


def _bounds(bounds: TimeRange) -> tuple[int, int]:
    """A range as first and behind-last microsecond. Without any bound it also takes in unknown and open ends."""
    given = (bounds.gte, bounds.gt, bounds.lte, bounds.lt)
    if not any(given):
        return UNBOUNDED_PAST, UNBOUNDED_FUTURE + 1
    lows = [UNBOUNDED_PAST + 1]
    lows += [
        micros(moment) + step for moment, step in ((bounds.gte, 0), (bounds.gt, 1)) if moment is not None
    ]
    highs = [UNBOUNDED_FUTURE]
    highs += [
        micros(moment) + step for moment, step in ((bounds.lte, 1), (bounds.lt, 0)) if moment is not None
    ]
    return max(lows), min(highs)
