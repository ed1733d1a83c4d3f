"""From the one row of a search to Candidates."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.graph.neo4j import codec
from pipeline.graph.neo4j.queries_search import leg_column
from pipeline.graph.search import Candidates, Item, Leg, Method, Scope, SearchPlan, item_key
from pipeline.model.community import Community
from pipeline.model.fact import Fact

_READ: dict[Scope, Callable[[Mapping[str, Any]], Item]] = {
    Scope.facts: codec.fact,
    Scope.entities: codec.entity,
    Scope.episodes: codec.stored_episode,
    Scope.communities: codec.community,
}


def candidates_of(plan: SearchPlan, row: Mapping[str, Any]) -> Candidates:
    """The answer to a plan. A leg that was not asked for in the query is empty."""
    items = {
        scope: {_key(fields): _READ[scope](fields) for fields in row.get(scope, ())}
        for scope in dict.fromkeys(plan.scopes)
    }
    for column in ("near_episodes", "source_episodes"):
        for fields in row.get(column, ()):
            if (key := _key(fields)) not in items[Scope.episodes]:
                items[Scope.episodes][key] = codec.stored_episode(fields)
    return Candidates(
        legs=tuple(
            Leg(
                scope,
                method,
                tuple((item_key(g, i), float(s)) for g, i, s in row.get(leg_column(scope, method), ())),
            )
            for scope in dict.fromkeys(plan.scopes)
            for method in dict.fromkeys(plan.methods)
        ),
        items=items,
        distances=_distances(items, row["steps"]) if "steps" in row else {},
        similarities={scope: _similarities(row, scope) for scope in items if f"similar_{scope}" in row},
        mentions=_mentions(items, row, plan.known_at) if plan.mentions else {},
        neighbours=_neighbours(items, row.get("neighbours", ())),
        degraded=_degraded(plan),
    )


def _degraded(plan: SearchPlan) -> tuple[str, ...]:
    if Method.cosine in plan.methods and plan.vector is not None and not any(plan.vector):
        return ("cosine: the embedding of the query is zero",)
    return ()


def _key(fields: Mapping[str, Any]) -> str:
    return item_key(fields["group_id"], fields["id"])


def _similarities(row: Mapping[str, Any], scope: Scope) -> dict[tuple[str, str], float]:
    keys = [_key(fields) for fields in row[scope]]
    found: dict[tuple[str, str], float] = {}
    for i, j, cosine in row[f"similar_{scope}"]:
        found[keys[i], keys[j]] = found[keys[j], keys[i]] = float(cosine)
    return found


def _distances(
    items: Mapping[Scope, Mapping[str, Item]], steps: list[tuple[str, str, int]]
) -> dict[Scope, dict[str, int]]:
    away = {item_key(group, entity): count for group, entity, count in steps}
    found: dict[Scope, dict[str, int]] = {}
    for scope in (Scope.facts, Scope.entities):
        found[scope] = {}
        for key, item in items.get(scope, {}).items():
            ends = (
                [item_key(item.group_id, e.id) for e in (item.source, item.target)]
                if isinstance(item, Fact)
                else [key]
            )
            near = [away[end] for end in ends if end in away]
            if near:
                found[scope][key] = min(near)
    return {scope: found[scope] for scope in items if scope in found}


def _neighbours(
    items: Mapping[Scope, Mapping[str, Item]], pairs: Sequence[tuple[str, str, str, int]]
) -> tuple[tuple[str, str, int], ...]:
    shown = items.get(Scope.episodes, {})
    keyed = ((item_key(group, a), item_key(group, b), steps) for group, a, b, steps in pairs)
    return tuple(pair for pair in keyed if pair[0] in shown and pair[1] in shown)


def _mentions(
    items: Mapping[Scope, Mapping[str, Item]], row: Mapping[str, Any], known_at: datetime | None
) -> dict[Scope, dict[str, int]]:
    counted: dict[str, int] = dict(
        zip((_key(f) for f in row.get(Scope.entities, ())), row.get("mentions", ()), strict=True)
    )

    def count(key: str, item: Item) -> int:
        if isinstance(item, Fact):
            return len(item.episodes_at(known_at))
        if isinstance(item, Community):
            return len(item.members)
        return counted.get(key, 0)

    return {scope: {key: count(key, item) for key, item in of.items()} for scope, of in items.items()}
