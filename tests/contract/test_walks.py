"""Breadth-first and distances: steps over what can be seen, whatever the direction of a fact."""

from __future__ import annotations

import pytest

from pipeline.graph.search import Filters, Method, Scope
from tests.contract.kit import Graph, belief, by_id, day, entity, episode, fact, leg, supported


async def _chain(graph: Graph, group: str) -> None:
    """a -> b <- c -> d <- e, with a closed short cut a -> e and d apart from x; episode e1 mentions c."""
    a, b, c, d, e, x = (entity(group, name) for name in "ABCDEX")
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    await graph.entities(one, c, mentioned=("c",))
    await graph.entities(two, a, b, d, e, x, mentioned=())
    await graph.facts(
        one,
        fact(a, "TO", b),
        fact(c, "TO", b, support=supported(["e1"])),
        fact(c, "TO", d),
        fact(e, "TO", d),
        fact(a, "SHORT", e, belief(1, 1, 5)),
    )


STEPS = {"a-to-b": 1, "c-to-b": 2, "c-to-d": 3}


@pytest.mark.parametrize("depth", [1, 2, 3])
async def test_from_an_entity_by_depth(graph: Graph, group: str, depth: int) -> None:
    await _chain(graph, group)
    found = await graph.search(
        group,
        scopes=(Scope.facts, Scope.entities),
        methods=(Method.bfs,),
        bfs_origins=("a",),
        bfs_depth=depth,
        as_of=day(9),
    )
    near = {name: 1 / steps for name, steps in STEPS.items() if steps <= depth}
    assert leg(found, Scope.facts, Method.bfs) == pytest.approx(near)
    entities = {name: 1 / steps for name, steps in {"b": 1, "c": 2, "d": 3}.items() if steps <= depth}
    assert leg(found, Scope.entities, Method.bfs) == pytest.approx(entities)
    assert list(leg(found, Scope.facts, Method.bfs)) == list(near)


async def test_from_the_middle_both_directions_count(graph: Graph, group: str) -> None:
    await _chain(graph, group)
    found = await graph.search(
        group, scopes=(Scope.facts, Scope.entities), methods=(Method.bfs,), bfs_origins=("c",), bfs_depth=1
    )
    assert leg(found, Scope.facts, Method.bfs) == {"c-to-b": 1.0, "c-to-d": 1.0}
    assert leg(found, Scope.entities, Method.bfs) == {"b": 1.0, "d": 1.0}


async def test_from_an_episode_its_mentions_are_one_step_away(graph: Graph, group: str) -> None:
    await _chain(graph, group)

    async def around(depth: int) -> list[dict[str, float]]:
        found = await graph.search(
            group,
            scopes=(Scope.facts, Scope.entities),
            methods=(Method.bfs,),
            bfs_origins=("e1",),
            bfs_depth=depth,
            as_of=day(9),
        )
        return [leg(found, scope, Method.bfs) for scope in (Scope.facts, Scope.entities)]

    assert await around(1) == [{"c-to-b": 1.0}, {"c": 1.0}]
    facts, entities = await around(2)
    assert facts == {"c-to-b": 1.0, "c-to-d": 0.5}
    assert entities == {"c": 1.0, "b": 0.5, "d": 0.5}


async def test_several_origins_count_from_the_nearest(graph: Graph, group: str) -> None:
    await _chain(graph, group)
    found = await graph.search(
        group,
        scopes=(Scope.facts, Scope.entities),
        methods=(Method.bfs,),
        bfs_origins=("a", "d", "nobody", "a"),
        bfs_depth=2,
        as_of=day(9),
    )
    assert leg(found, Scope.facts, Method.bfs) == {"a-to-b": 1.0, "c-to-d": 1.0, "e-to-d": 1.0, "c-to-b": 0.5}
    assert leg(found, Scope.entities, Method.bfs) == {"b": 1.0, "c": 1.0, "e": 1.0}


async def test_a_walk_takes_only_what_can_be_seen(graph: Graph, group: str) -> None:
    await _chain(graph, group)

    async def entities(**changes: object) -> dict[str, float]:
        found = await graph.search(
            group, scopes=(Scope.entities,), methods=(Method.bfs,), bfs_origins=("a",), **changes
        )
        return leg(found, Scope.entities, Method.bfs)

    assert set(await entities(as_of=day(4))) == {"b", "e"}
    assert set(await entities(as_of=day(5))) == {"b"}
    assert set(await entities(as_of=None)) == {"b", "e"}
    assert await entities(known_at=day(0)) == {}


async def test_filters_choose_among_what_was_reached(graph: Graph, group: str) -> None:
    await _chain(graph, group)
    found = await graph.search(
        group, methods=(Method.bfs,), bfs_origins=("a",), bfs_depth=3, filters=Filters(relations=("SHORT",))
    )
    assert leg(found, Scope.facts, Method.bfs) == {"a-short-e": 1.0}


async def test_distances_are_shortest_paths(graph: Graph, group: str) -> None:
    await _chain(graph, group)

    async def told(**changes: object) -> tuple[dict[str, int], dict[str, int]]:
        found = await graph.search(
            group,
            "a b c d e x to short",
            scopes=(Scope.facts, Scope.entities),
            methods=(Method.cosine,),
            distances_from="a",
            **changes,
        )
        return by_id(found.distances[Scope.facts]), by_id(found.distances[Scope.entities])

    facts, entities = await told(as_of=day(9))
    assert entities == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4}
    assert facts == {"a-to-b": 0, "c-to-b": 1, "c-to-d": 2, "e-to-d": 3}
    facts, entities = await told(as_of=day(4))
    assert entities == {"a": 0, "b": 1, "c": 2, "d": 2, "e": 1}
    assert facts == {"a-to-b": 0, "c-to-b": 1, "c-to-d": 2, "e-to-d": 1, "a-short-e": 0}
    facts, entities = await told(as_of=day(9), max_distance=2)
    assert entities == {"a": 0, "b": 1, "c": 2}
    assert facts == {"a-to-b": 0, "c-to-b": 1, "c-to-d": 2}


async def test_from_an_unknown_centre_nothing_has_a_distance(graph: Graph, group: str) -> None:
    await _chain(graph, group)
    found = await graph.search(group, "to", distances_from="nobody")
    assert leg(found, Scope.facts, Method.bm25)
    assert by_id(found.distances.get(Scope.facts, {})) == {}
    assert (await graph.search(group, "to")).distances == {}
