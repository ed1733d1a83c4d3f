"""Along the edges: breadth-first, distances, and what is measured among candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import (
    Method,
    Scope,
    SearchPlan,
    item_key,
)
from tests.integration.graph.reader_graph import (
    NOW,
    GraphWriter,
    at_cosine,
    day,
    entity,
    episode,
    fact,
    found,
    ids,
    plan,
    small_world,
)


async def _chain(write: GraphWriter, group: str) -> None:
    """A - B - C - D - E by facts of changing direction; B - X has ended; e1 mentions A and B and supports a-b."""
    names = ["A", "B", "C", "D", "E", "X", "Island"]
    await write.entities(*(entity(group, name) for name in names))
    await write.episodes(episode(group, "e1", "chain"))
    await write.mentions(group, "e1", "a", "b")
    await write.facts(
        fact(group, "a-b", "A", "B", "chain", episodes=["e1"]),
        fact(group, "c-b", "C", "B", "chain"),
        fact(group, "c-d", "C", "D", "chain"),
        fact(group, "e-d", "E", "D", "chain"),
        fact(group, "b-x", "B", "X", "chain", end=day(100)),
    )


async def test_breadth_first_by_depth(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await _chain(write, group)
    both = (Scope.facts, Scope.entities)
    for origin, depth, facts, entities in (
        ("a", 1, {"a-b": 1}, {"b": 1}),
        ("a", 2, {"a-b": 1, "c-b": 1 / 2}, {"b": 1, "c": 1 / 2}),
        ("a", 3, {"a-b": 1, "c-b": 1 / 2, "c-d": 1 / 3}, {"b": 1, "c": 1 / 2, "d": 1 / 3}),
        ("c", 1, {"c-b": 1, "c-d": 1}, {"b": 1, "d": 1}),
        ("e1", 1, {"a-b": 1}, {"a": 1, "b": 1}),
        ("e1", 2, {"a-b": 1, "c-b": 1 / 2}, {"a": 1, "b": 1, "c": 1 / 2}),
        ("island", 3, {}, {}),
        ("nobody", 3, {}, {}),
    ):
        candidates = await reader.search(
            plan(group, scopes=both, methods=(Method.bfs,), bfs_origins=(origin,), bfs_depth=depth)
        )
        legs = [
            dict(zip(ids(key for key, _ in leg.ranked), (s for _, s in leg.ranked), strict=True))
            for leg in candidates.legs
        ]
        assert legs == [pytest.approx(facts), pytest.approx(entities)], (origin, depth)
    before = await reader.search(
        plan(
            group, scopes=both, methods=(Method.bfs,), bfs_origins=("x", "nobody"), as_of=day(99), bfs_depth=2
        )
    )
    assert sorted(found(before, Scope.facts, Method.bfs)) == ["a-b", "b-x", "c-b"]
    assert sorted(found(before, Scope.entities, Method.bfs)) == ["a", "b", "c"]


async def test_distances_follow_what_holds(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await _chain(write, group)
    asked = plan(
        group,
        "chain about",
        scopes=(Scope.facts, Scope.entities),
        as_of=day(50),
        methods=(Method.cosine,),
        distances_from="a",
    )

    async def steps(wanted: SearchPlan) -> tuple[dict[str, int], dict[str, int]]:
        away = (await reader.search(wanted)).distances
        facts, entities = (
            dict(zip(ids(away[s]), away[s].values(), strict=True)) for s in (Scope.facts, Scope.entities)
        )
        return facts, entities

    assert await steps(asked) == (
        {"a-b": 0, "c-b": 1, "b-x": 1, "c-d": 2, "e-d": 3},
        {"a": 0, "b": 1, "c": 2, "x": 2, "d": 3, "e": 4},
    )
    assert await steps(replace(asked, max_distance=2)) == (
        {"a-b": 0, "c-b": 1, "b-x": 1, "c-d": 2},
        {"a": 0, "b": 1, "c": 2, "x": 2},
    )
    now = await steps(replace(asked, as_of=NOW))
    assert "x" not in now[1]
    assert "b-x" not in now[0]
    assert await steps(replace(asked, as_of=NOW, known_at=NOW)) == now
    assert await steps(replace(asked, distances_from="nobody")) == ({}, {})


async def test_similarities_are_symmetric_cosines(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"), vectors=[at_cosine(1), at_cosine(-1)])
    await write.facts(
        fact(group, "f1", "Ana", "Acme", "kayak"),
        fact(group, "f2", "Ana", "Acme", "kayak"),
        fact(group, "f3", "Ana", "Acme", "kayak"),
        vectors=[at_cosine(1), at_cosine(0.6), at_cosine(0, 5)],
    )
    candidates = await reader.search(
        plan(group, "kayak", scopes=(Scope.facts, Scope.entities), similarities=True)
    )
    one, two, three = (item_key(group, each) for each in ("f1", "f2", "f3"))
    assert candidates.similarities[Scope.facts] == pytest.approx(
        {
            (one, two): 0.6,
            (two, one): 0.6,
            (one, three): 0,
            (three, one): 0,
            (two, three): 0,
            (three, two): 0,
        },
        abs=1e-3,
    )
    ana, acme = item_key(group, "ana"), item_key(group, "acme")
    assert candidates.similarities[Scope.entities] == pytest.approx(
        {(ana, acme): -1, (acme, ana): -1}, abs=1e-3
    )


async def test_mentions_count_episodes(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await small_world(write, group)
    await write.episodes(episode(group, "e2", "Ana again"))
    await write.mentions(group, "e2", "ana")
    candidates = await reader.search(plan(group, "Ana", scopes=tuple(Scope), mentions=True))
    assert candidates.mentions == {
        Scope.facts: {item_key(group, "f1"): 1},
        Scope.entities: {item_key(group, "ana"): 2, item_key(group, "acme"): 1},
        Scope.episodes: {item_key(group, "e1"): 0, item_key(group, "e2"): 0},
        Scope.communities: {item_key(group, "c1"): 2},
    }
