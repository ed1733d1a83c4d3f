"""Around candidates: episodes before and after them in their threads, and those that facts come from."""

from __future__ import annotations

import pytest

from pipeline.graph.search import CENTRES, SOURCES, Candidates, Filters, Method, Scope, TimeRange, item_key
from tests.contract.kit import Graph, belief, day, entity, episode, fact, supported

EPISODES = {"scopes": (Scope.episodes,), "methods": (Method.bm25,)}


def _talk(group: str, thread: str | None, *words: str, start: int = 1, known: int = 1, **changes: object):
    return [
        episode(
            group,
            f"{thread}-{place}",
            word,
            sequence=start + place,
            reference_time=day(known),
            thread_id=thread,
            **changes,
        )
        for place, word in enumerate(words)
    ]


def _ids(found: Candidates) -> set[str]:
    return {stored.episode.id for stored in found.items[Scope.episodes].values()}


def _pairs(group: str, *named: tuple[str, str, int]) -> set[tuple[str, str, int]]:
    return {(item_key(group, a), item_key(group, b), steps) for a, b, steps in named}


async def test_neighbours_stand_before_and_after_in_the_same_thread(graph: Graph, group: str):
    # Both threads have the same time throughout, and their episodes came in turns.
    await graph.receive(*_talk(group, "a", "one", "two", "owl", "four", "five"))
    await graph.receive(*_talk(group, "b", "six", "seven", "eight", start=2))
    found = await graph.search(group, "owl", **EPISODES, neighbours=1)
    assert _ids(found) == {"a-1", "a-2", "a-3"}
    assert set(found.neighbours) == _pairs(group, ("a-1", "a-2", 1), ("a-2", "a-3", 1))
    found = await graph.search(group, "owl", **EPISODES, neighbours=2)
    assert _ids(found) == {f"a-{place}" for place in range(5)}
    assert {("a-0", "a-2", 2), ("a-2", "a-4", 2)} <= {
        (a.split("\x1f")[1], b.split("\x1f")[1], steps) for a, b, steps in found.neighbours
    }


async def test_only_the_candidates_themselves_are_in_the_legs(graph: Graph, group: str):
    await graph.receive(*_talk(group, "a", "one", "owl", "three"))
    found = await graph.search(group, "owl", **EPISODES, neighbours=2)
    assert [key for leg in found.legs for key, _ in leg.ranked] == [item_key(group, "a-1")]


async def test_nothing_is_looked_for_unless_asked(graph: Graph, group: str):
    await graph.receive(*_talk(group, "a", "one", "owl", "three"))
    found = await graph.search(group, "owl", **EPISODES)
    assert _ids(found) == {"a-1"}
    assert found.neighbours == ()


async def test_time_comes_before_the_order_of_arrival(graph: Graph, group: str):
    late, early, owl = (
        episode(group, name, name, sequence=sequence, reference_time=day(at), thread_id="a")
        for name, sequence, at in (("late", 1, 9), ("early", 2, 3), ("owl", 3, 5))
    )
    await graph.receive(late, early, owl)
    found = await graph.search(group, "owl", **EPISODES, neighbours=1)
    assert set(found.neighbours) == _pairs(group, ("early", "owl", 1), ("owl", "late", 1))


async def test_an_episode_without_a_thread_stands_alone(graph: Graph, group: str):
    await graph.receive(*_talk(group, None, "one", "owl", "three"))
    found = await graph.search(group, "owl", **EPISODES, neighbours=2)
    assert _ids(found) == {"None-1"}


async def test_threads_of_the_same_name_in_two_groups_do_not_meet(graph: Graph, group: str, other_group: str):
    await graph.receive(*_talk(group, "a", "one", "owl"))
    await graph.receive(*_talk(other_group, "a", "one", "owl", "three"))
    found = await graph.search(group, "owl", **EPISODES, neighbours=2)
    assert {stored.episode.group_id for stored in found.items[Scope.episodes].values()} == {group}
    both = await graph.search(group, "owl", **EPISODES, neighbours=2, group_ids=(group, other_group))
    assert all(a.split("\x1f")[0] == b.split("\x1f")[0] for a, b, _ in both.neighbours)
    assert len(both.neighbours) == 3


@pytest.mark.parametrize(
    "changes",
    [
        {"filters": Filters(metadata={"channel": "chat"})},
        {"filters": Filters(valid_at=(TimeRange(lt=day(3)), TimeRange(gt=day(3))))},
        {"known_at": day(5)},
    ],
    ids=["metadata", "valid_at", "known_at"],
)
async def test_neighbours_pass_the_filters_and_hidden_ones_keep_their_place(
    graph: Graph, group: str, changes: dict[str, object]
):
    chat, mail = {"metadata": {"channel": "chat"}}, {"metadata": {"channel": "mail"}}
    owl, hidden, shown = (
        episode(group, name, name, sequence=place, reference_time=day(at), thread_id="a", **kind)
        for place, (name, at, kind) in enumerate([("owl", 2, chat), ("hidden", 3, mail), ("shown", 4, chat)])
    )
    await graph.receive(owl, at=day(2))
    await graph.receive(hidden, at=day(9))
    await graph.receive(shown, at=day(4))
    found = await graph.search(group, "owl", **EPISODES, neighbours=2, **changes)
    assert _ids(found) == {"owl", "shown"}
    assert set(found.neighbours) == _pairs(group, ("owl", "shown", 2))


async def test_only_around_the_best_of_a_leg(graph: Graph, group: str):
    many = [
        episode(
            group,
            f"e{n}",
            "owl " * 3 if n < CENTRES else "owl and much else",
            sequence=2 * n,
            thread_id=f"t{n}",
        )
        for n in range(CENTRES + 1)
    ]
    beside = [
        episode(group, f"n{n}", "nothing", sequence=2 * n + 1, thread_id=f"t{n}") for n in range(CENTRES + 1)
    ]
    await graph.receive(*many, *beside)
    found = await graph.search(group, "owl", **EPISODES, neighbours=1, limit=CENTRES + 1)
    assert len(found.neighbours) == CENTRES
    assert f"n{CENTRES}" not in _ids(found)


async def _stated(graph: Graph, group: str, *names: str, known: int = 1) -> None:
    owl, barn = entity(group, "Owl"), entity(group, "Barn")
    of = [episode(group, name, f"text {name}", sequence=place) for place, name in enumerate(names)]
    await graph.receive(*of)
    await graph.entities(of[0], owl, barn)
    await graph.facts(of[0], fact(owl, "LIVES_IN", barn, belief(known), support=supported(names, known)))


BOTH = {"scopes": (Scope.facts, Scope.episodes), "methods": (Method.bm25,), "sources": True}


async def test_facts_lead_to_the_last_episodes_that_support_them(graph: Graph, group: str):
    names = [f"s{n}" for n in range(SOURCES + 2)]
    await _stated(graph, group, *names)
    found = await graph.search(group, "owl", **BOTH)
    assert _ids(found) == set(names[-SOURCES:])
    assert [leg.ranked for leg in found.legs if leg.scope is Scope.episodes] == [()]


async def test_sources_pass_the_filters(graph: Graph, group: str):
    await _stated(graph, group, "s0", "s1")
    found = await graph.search(group, "owl", **BOTH, filters=Filters(valid_at=(TimeRange(gte=day(2)),)))
    assert _ids(found) == set()


async def test_sources_are_those_that_counted_at_the_time(graph: Graph, group: str):
    owl, barn = entity(group, "Owl"), entity(group, "Barn")
    of = [episode(group, name, f"text {name}", sequence=place) for place, name in enumerate(("old", "new"))]
    await graph.receive(*of)
    await graph.entities(of[0], owl, barn)
    support = (*supported(["old"], 1), *supported(["new"], 8))
    await graph.facts(of[0], fact(owl, "LIVES_IN", barn, belief(1), support=support))
    assert _ids(await graph.search(group, "owl", **BOTH, known_at=day(5))) == {"old"}
    assert _ids(await graph.search(group, "owl", **BOTH)) == {"old", "new"}


async def test_sources_of_another_group_stay_there(graph: Graph, group: str, other_group: str):
    await _stated(graph, group, "s0")
    await _stated(graph, other_group, "s0", "s1")
    found = await graph.search(group, "owl", **BOTH)
    assert list(found.items[Scope.episodes]) == [item_key(group, "s0")]
