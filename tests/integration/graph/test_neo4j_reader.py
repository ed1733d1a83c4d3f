"""The read side on a real Neo4j: what is found, what is not, and that it takes one round trip."""

from __future__ import annotations

import random
import uuid
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import neo4j
import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection, Row
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.schema import ensure_schema
from pipeline.graph.search import (
    Candidates,
    Filters,
    Method,
    Scope,
    SearchPlan,
    TimeRange,
    item_key,
)
from pipeline.model.community import Community
from pipeline.model.fact import Belief, Fact, Support
from pipeline.observer import SilentObserver
from pipeline.text.analysis import query_terms
from tests.integration.graph.reader_graph import (
    DIMENSION,
    LEARNED,
    GraphWriter,
    at_cosine,
    day,
    entity,
    episode,
    fact,
    ids,
)

NOW = day(300)
MICROSECOND = timedelta(microseconds=1)
SEARCHED = (Method.bm25, Method.cosine)


class RoundTrips(SilentObserver):
    """Counts requests by operation."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        self.seen.append(operation)


@pytest.fixture
def trips() -> RoundTrips:
    return RoundTrips()


@pytest.fixture
async def connection(bolt_uri: str, trips: RoundTrips) -> AsyncIterator[Neo4jConnection]:
    made = Neo4jConnection(bolt_uri, None, None, "neo4j", trips)
    await made.open()
    await ensure_schema(made, DIMENSION)
    yield made
    await made.close()


@pytest.fixture
def reader(connection: Neo4jConnection) -> Neo4jGraphReader:
    return Neo4jGraphReader(connection, timeout=30, clock=lambda: NOW)


@pytest.fixture
def write(connection: Neo4jConnection) -> GraphWriter:
    return GraphWriter(connection)


def plan(group: str, query: str = "", **changed: Any) -> SearchPlan:
    """Facts now, by text and by a vector that is `at_cosine(1)`."""
    base = SearchPlan(
        group_ids=(group,),
        scopes=(Scope.facts,),
        methods=SEARCHED,
        limit=10,
        terms=tuple(query_terms(query)),
        vector=at_cosine(1),
        as_of=NOW,
    )
    return replace(base, **changed)


def found(candidates: Candidates, scope: Scope, method: Method) -> list[str]:
    """Ids of a leg, best first."""
    return ids(
        key for leg in candidates.legs if (leg.scope, leg.method) == (scope, method) for key, _ in leg.ranked
    )


async def facts_found(reader: Neo4jGraphReader, wanted: SearchPlan) -> list[list[str]]:
    """Ids of the fact legs, sorted, a list per method."""
    candidates = await reader.search(wanted)
    return [sorted(found(candidates, Scope.facts, method)) for method in wanted.methods]


async def small_world(write: GraphWriter, group: str, word: str = "tarpaulin") -> None:
    """Ana and Acme with a fact, an episode, and a community, the same in every group."""
    await write.episodes(episode(group, "e1", f"Ana bought a {word}"))
    await write.entities(entity(group, "Ana", "Person"), entity(group, "Acme", "Company"))
    await write.mentions(group, "e1", "ana", "acme")
    await write.facts(fact(group, "f1", "Ana", "Acme", f"Ana sells a {word} to Acme", episodes=["e1"]))
    await write.community(
        Community(
            id="c1",
            group_id=group,
            name=f"{word} trade",
            summary="Ana",
            created_at=LEARNED,
            members=("acme", "ana"),
        )
    )


AWKWARD = ('a:b OR c) +fs_scope:*~"', "组/группа 🦉 `}) RETURN 1 //", " \\'-^0 NOT ", "É\u0301\u200b")


@pytest.mark.parametrize("awkward", AWKWARD)
async def test_groups_with_the_same_words_and_ids_do_not_see_each_other(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, awkward: str
) -> None:
    mine, other = f"{awkward}{group}", f"{awkward}{group}2"
    for each in (mine, other):
        await small_world(write, each)
    for groups in ((mine,), (other,), (mine, other), (other, mine, mine)):
        candidates = await reader.search(
            plan(
                mine,
                "Ana tarpaulin",
                group_ids=groups,
                scopes=tuple(Scope),
                methods=tuple(Method),
                bfs_origins=("ana", "e1"),
                distances_from="ana",
                similarities=True,
                mentions=True,
            )
        )
        for leg in candidates.legs:
            seen = {key.split("\x1f")[0] for key, _ in leg.ranked}
            graph_only = leg.method is Method.bfs and leg.scope in (Scope.episodes, Scope.communities)
            assert seen == (set() if graph_only else set(groups)), (leg.scope, leg.method)
            assert len(dict(leg.ranked)) == len(leg.ranked)
            assert {key for key, _ in leg.ranked} <= candidates.items[leg.scope].keys()
        for scope, items in candidates.items.items():
            assert {
                item_key(_group_of(item), key.split("\x1f")[1]) for key, item in items.items()
            } == items.keys(), scope
    stranger = await reader.search(
        plan(
            f"{group}3",
            "Ana tarpaulin",
            scopes=tuple(Scope),
            methods=tuple(Method),
            bfs_origins=("ana", "e1"),
        )
    )
    assert not any(leg.ranked for leg in stranger.legs)


def _group_of(item: Any) -> str:
    return item.episode.group_id if hasattr(item, "episode") else item.group_id


async def test_a_search_is_one_round_trip_whatever_it_asks(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, trips: RoundTrips
) -> None:
    await small_world(write, group)
    trips.seen.clear()
    await reader.search(
        plan(
            group,
            "Ana",
            scopes=tuple(Scope),
            methods=tuple(Method),
            bfs_origins=("ana",),
            bfs_depth=3,
            distances_from="ana",
            similarities=True,
            mentions=True,
            known_at=NOW,
            filters=Filters(
                metadata={"a": 1}, entity_types=("Person", "Company"), relations=("KNOWS", "OWNS")
            ),
        )
    )
    assert trips.seen == ["search"]
    trips.seen.clear()
    nothing = await reader.search(plan(group, "?!", vector=None, methods=tuple(Method)))
    assert [leg.ranked for leg in nothing.legs] == [(), (), ()]
    assert nothing.items == {Scope.facts: {}}
    assert trips.seen == []


async def test_scores_and_order(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "far", "Ana", "Acme", "Ana met Acme in the rain"),
        fact(group, "near", "Ana", "Acme", "Ana has a kayak, a kayak of Acme"),
        fact(group, "middle", "Ana", "Acme", "Ana lent Acme a kayak once upon a time"),
        vectors=[at_cosine(-0.5), at_cosine(0.9), at_cosine(0.25)],
    )
    candidates = await reader.search(plan(group, "kayak"))
    text, vector = candidates.legs
    assert ids(key for key, _ in text.ranked) == ["near", "middle"]
    assert text.ranked[0][1] > text.ranked[1][1] > 0
    assert ids(key for key, _ in vector.ranked) == ["near", "middle", "far"]
    assert [score for _, score in vector.ranked] == pytest.approx([0.9, 0.25, -0.5], abs=1e-3)
    assert len((await reader.search(plan(group, "kayak", limit=1))).items[Scope.facts]) == 1


def _decoy(group: str, number: int) -> Fact:
    return fact(
        group,
        f"decoy-{number:03}",
        "Ana",
        "Acme",
        "kayak kayak kayak",
        relation="OWNS",
        known=day(20),
        start=day(30),
        end=day(400),
        episodes=["e-decoy"],
    )


async def _among_decoys(write: GraphWriter, group: str, decoys: int) -> None:
    """One fact that the filters want and many that match words and vector better."""
    await write.episodes(
        episode(group, "e-decoy", "decoy", metadata={"channel": "mail", "vip": True}),
        episode(group, "e-wanted", "wanted", metadata={"channel": "chat", "vip": True}),
    )
    await write.entities(
        entity(group, "Ana", "Person"), entity(group, "Acme", "Company"), entity(group, "Boat", "Boat")
    )
    await write.facts(
        *(_decoy(group, number) for number in range(decoys)),
        fact(
            group,
            "wanted",
            "Ana",
            "Boat",
            "Ana once saw, from far away and in bad weather, somebody who may have had a kayak",
            relation="SAW",
            start=day(10),
            end=day(500),
            known=day(5),
            episodes=["e-wanted"],
        ),
        vectors=[*(at_cosine(0.99, 2 + number) for number in range(decoys)), at_cosine(0.1)],
    )


WANTED = {
    "relations": Filters(relations=("SAW",)),
    "relation-lists": Filters(relations=("LIKES", "SAW", "HEARD")),
    "types": Filters(entity_types=("Boat", "Ship")),
    "metadata": Filters(metadata={"channel": "chat", "vip": True}),
    "valid": Filters(valid_at=(TimeRange(gt=day(1000)), TimeRange(gte=day(10), lt=day(30)))),
    "invalid": Filters(invalid_at=(TimeRange(gt=day(400)),)),
    "created": Filters(created_at=(TimeRange(lte=day(5)), TimeRange(gt=day(20)))),
}


@pytest.mark.parametrize("known_at", [None, NOW], ids=["now", "known"])
async def test_filters_apply_before_the_limit(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, known_at: datetime | None
) -> None:
    await _among_decoys(write, group, 260)
    every = (*SEARCHED, Method.bfs)
    base = plan(group, "kayak", limit=3, methods=every, bfs_origins=("ana",), known_at=known_at)
    for name, filters in WANTED.items():
        assert await facts_found(reader, replace(base, filters=filters)) == [["wanted"]] * 3, name
    unfiltered = await reader.search(base)
    assert "wanted" not in ids(unfiltered.items[Scope.facts])
    both = Filters(relations=("SAW",), metadata={"channel": "mail"})
    assert await facts_found(reader, replace(base, filters=both)) == [[], [], []]


async def test_what_was_not_believed_does_not_take_the_place_of_what_was(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    revised = [
        Belief(known_from=day(1), valid_at=day(1)),
        Belief(known_from=day(10), holds=False),
        Belief(known_from=day(100), valid_at=day(1)),
    ]
    await write.facts(
        *(fact(group, f"d{n}", "Ana", "Acme", "kayak kayak", beliefs=revised) for n in range(230)),
        fact(group, "wanted", "Ana", "Acme", "somebody may once have had a kayak"),
        vectors=[*(at_cosine(0.99, 2 + n) for n in range(230)), at_cosine(0.1)],
    )
    wanted = plan(group, "kayak", limit=2)
    assert await facts_found(reader, replace(wanted, known_at=day(50))) == [["wanted"], ["wanted"]]
    assert await facts_found(reader, replace(wanted, known_at=day(50), as_of=None)) == [
        ["wanted"],
        ["wanted"],
    ]
    assert [len(leg) for leg in await facts_found(reader, wanted)] == [2, 2]


async def test_ends_of_intervals_are_half_open_to_the_microsecond(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "bounded", "Ana", "Acme", "kayak", start=day(10), end=day(20)),
        fact(group, "open", "Ana", "Acme", "kayak", start=day(20)),
        fact(group, "unknown-start", "Ana", "Acme", "kayak", start=None, end=day(10)),
        fact(group, "disbelieved", "Ana", "Acme", "kayak", beliefs=[Belief(known_from=day(1), holds=False)]),
    )
    for known_at in (None, NOW):
        for moment, expected in (
            (day(10) - MICROSECOND, ["unknown-start"]),
            (day(10), ["bounded"]),
            (day(20) - MICROSECOND, ["bounded"]),
            (day(20), ["open"]),
            (NOW, ["open"]),
            (None, ["bounded", "open", "unknown-start"]),
        ):
            asked = plan(
                group, "kayak", as_of=moment, known_at=known_at, methods=tuple(Method), bfs_origins=("acme",)
            )
            assert await facts_found(reader, asked) == [expected] * 3, (moment, known_at)


async def test_time_filters_are_met_by_known_bounds_only(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "bounded", "Ana", "Acme", "kayak", start=day(10), end=day(20)),
        fact(group, "unbounded", "Ana", "Acme", "kayak", start=None),
    )
    for filters, expected in (
        (Filters(valid_at=(TimeRange(lt=day(100)),)), ["bounded"]),
        (Filters(invalid_at=(TimeRange(gt=day(1)),)), ["bounded"]),
        (Filters(valid_at=(TimeRange(),)), ["bounded", "unbounded"]),
        (Filters(valid_at=(TimeRange(gt=day(10)),)), []),
        (Filters(valid_at=(TimeRange(gte=day(10), lte=day(10)),)), ["bounded"]),
        (Filters(invalid_at=(TimeRange(lt=day(20)),)), []),
        (Filters(invalid_at=(TimeRange(lte=day(20)),)), ["bounded"]),
    ):
        asked = plan(group, "kayak", as_of=None, filters=filters)
        assert await facts_found(reader, asked) == [expected] * 2, filters


async def test_three_revisions_answer_as_they_were_believed(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(
            group,
            "f",
            "Ana",
            "Acme",
            "kayak",
            beliefs=[
                Belief(known_from=day(10), valid_at=day(5)),
                Belief(known_from=day(20), valid_at=day(5), invalid_at=day(15)),
                Belief(known_from=day(30), holds=False),
            ],
        )
    )
    for known_at, as_of, expected in (
        (day(10) - MICROSECOND, day(12), []),
        (day(10) - MICROSECOND, None, []),
        (day(10), day(12), ["f"]),
        (day(10), day(4), []),
        (day(10), day(200), ["f"]),
        (day(20) - MICROSECOND, day(200), ["f"]),
        (day(20), day(200), []),
        (day(20), day(15), []),
        (day(20), day(15) - MICROSECOND, ["f"]),
        (day(20), None, ["f"]),
        (day(30), day(12), []),
        (day(30), None, []),
        (None, day(12), []),
        (None, None, []),
    ):
        asked = plan(
            group, "kayak", as_of=as_of, known_at=known_at, methods=tuple(Method), bfs_origins=("ana",)
        )
        assert await facts_found(reader, asked) == [expected] * 3, (known_at, as_of)
        ends = Filters(invalid_at=(TimeRange(gte=day(15), lte=day(15)),))
        closed = expected if known_at == day(20) else []
        assert await facts_found(reader, replace(asked, filters=ends)) == [closed] * 3, (known_at, as_of)


def _random_fact(group: str, number: int, rng: random.Random) -> Fact:
    beliefs = []
    for known_from in sorted(rng.sample(range(1, 60), rng.randint(1, 4))):
        start = rng.choice([None, *range(1, 60)])
        end = rng.choice([None, None, *range((start or 1) + 1, 70)])
        beliefs.append(
            Belief(
                known_from=day(known_from),
                holds=rng.random() > 0.2,
                valid_at=None if start is None else day(start),
                invalid_at=None if end is None else day(end),
            )
        )
    return fact(group, f"f{number}", "Ana", "Acme", "kayak", beliefs=beliefs)


def _holds(each: Fact, as_of: datetime | None, known_at: datetime | None) -> bool:
    belief = each.belief_at(known_at)
    if belief is None or not belief.holds:
        return False
    if as_of is None:
        return True
    return (belief.valid_at is None or belief.valid_at <= as_of) and (
        belief.invalid_at is None or as_of < belief.invalid_at
    )


async def test_random_histories_answer_like_the_model(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    rng = random.Random(7)
    written = [_random_fact(group, number, rng) for number in range(60)]
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    write.at = day(70)
    await write.facts(*written, vectors=[at_cosine(rng.uniform(-1, 1), 2 + n) for n in range(60)])
    moments = [None, *(day(rng.randint(1, 72)) for _ in range(5)), NOW]
    for as_of in moments:
        for known_at in moments:
            expected = sorted(each.id for each in written if _holds(each, as_of, known_at))
            asked = plan(
                group,
                "kayak",
                as_of=as_of,
                known_at=known_at,
                limit=70,
                methods=tuple(Method),
                bfs_origins=("ana",),
            )
            assert await facts_found(reader, asked) == [expected] * 3, (as_of, known_at)


async def test_metadata_keeps_its_json_type_and_sits_on_one_episode(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"), entity(group, "Boat"))
    await write.episodes(
        episode(group, "e-int", "kayak", metadata={"p": 2, "c": "chat"}),
        episode(group, "e-text", "kayak", metadata={"p": "2", "c": "mail"}),
        episode(group, "e-true", "kayak", metadata={"p": True}),
        episode(group, "e-none", "kayak"),
    )
    await write.mentions(group, "e-int", "ana")
    await write.mentions(group, "e-text", "ana", "acme")
    await write.facts(
        fact(group, "f-int", "Ana", "Acme", "kayak", episodes=["e-none", "e-int"]),
        fact(group, "f-text", "Ana", "Acme", "kayak", episodes=["e-text"]),
        fact(group, "f-true", "Ana", "Acme", "kayak", episodes=["e-true"]),
        fact(group, "f-both", "Ana", "Acme", "kayak", episodes=["e-int", "e-text"]),
        fact(group, "f-none", "Ana", "Acme", "kayak"),
    )
    await write.community(
        Community(id="c", group_id=group, name="kayak", summary="", created_at=LEARNED, members=("acme",))
    )
    for metadata, facts, entities, episodes, communities in (
        ({"p": 2}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
        ({"p": 2.0}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
        ({"p": "2"}, ["f-both", "f-text"], ["acme", "ana"], ["e-text"], ["c"]),
        ({"p": True}, ["f-true"], [], ["e-true"], []),
        ({"p": 1}, [], [], [], []),
        ({"p": 2, "c": "mail"}, [], [], [], []),
        ({"p": 2, "c": "chat"}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
    ):
        for known_at in (None, NOW):
            candidates = await reader.search(
                plan(
                    group,
                    "kayak",
                    scopes=tuple(Scope),
                    methods=(Method.cosine,),
                    known_at=known_at,
                    filters=Filters(metadata=metadata),
                )
            )
            seen = {scope: sorted(ids(items)) for scope, items in candidates.items.items()}
            assert seen == {
                Scope.facts: facts,
                Scope.entities: entities,
                Scope.episodes: episodes,
                Scope.communities: communities,
            }, (metadata, known_at)


async def test_support_that_moved_counts_as_it_did_then(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.episodes(episode(group, "e", "kayak", metadata={"c": "chat"}))
    moved = fact(group, "f", "Ana", "Acme", "kayak").model_copy(
        update={"support": (Support(episode_id="e", known_from=day(2), known_to=day(9)),)}
    )
    await write.facts(moved)
    asked = plan(group, "kayak", filters=Filters(metadata={"c": "chat"}), mentions=True)
    for known_at, expected in ((day(1), []), (day(2), ["f"]), (day(9), []), (None, [])):
        assert await facts_found(reader, replace(asked, known_at=known_at)) == [expected] * 2, known_at
    then = await reader.search(replace(asked, known_at=day(2)))
    assert then.mentions[Scope.facts] == {item_key(group, "f"): 1}


async def test_what_was_stored_later_was_not_known(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.episodes(episode(group, "old", "kayak", reference=day(50)), at=day(3))
    await write.episodes(episode(group, "new", "kayak", reference=day(1)), at=day(6))
    await write.entities(entity(group, "Kayak", at=day(3)), entity(group, "Kayak2", at=day(6)))
    await write.mentions(group, "old", "kayak", at=day(3))
    await write.mentions(group, "new", "kayak", at=day(6))
    await write.community(Community(id="late", group_id=group, name="kayak", summary="", created_at=day(6)))
    asked = plan(
        group,
        "kayak kayak2",
        scopes=(Scope.entities, Scope.episodes, Scope.communities),
        mentions=True,
        as_of=day(2),
    )
    everything = await reader.search(asked)
    assert [sorted(ids(of)) for of in everything.items.values()] == [
        ["kayak", "kayak2"],
        ["new", "old"],
        ["late"],
    ]
    assert everything.mentions[Scope.entities][item_key(group, "kayak")] == 2
    then = await reader.search(replace(asked, known_at=day(5)))
    assert [sorted(ids(of)) for of in then.items.values()] == [["kayak"], ["old"], []]
    assert then.mentions[Scope.entities] == {item_key(group, "kayak"): 1}
    by_reference = Filters(valid_at=(TimeRange(gte=day(50)),))
    filtered = await reader.search(replace(asked, filters=by_reference))
    assert ids(filtered.items[Scope.episodes]) == ["old"]


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


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("muller", ["m"]),
        ("MÜLLER", ["m"]),
        ("北大", ["bei"]),
        ("清华", ["qing"]),
        ("大学", ["bei", "qing"]),
        ("サッカー", ["foot"]),
    ],
)
async def test_text_folds_accents_and_finds_words_of_two_characters(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, query: str, expected: list[str]
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "m", "Ana", "Acme", "Frau Müller paddelt"),
        fact(group, "bei", "Ana", "Acme", "安娜在北大学习大学物理"),
        fact(group, "qing", "Ana", "Acme", "安娜在清华大学"),
        fact(group, "foot", "Ana", "Acme", "アナはサッカーが好き"),
    )
    assert await facts_found(reader, plan(group, query, methods=(Method.bm25,))) == [expected]


HOSTILE = [
    '"',
    "((ana)",
    "[1 TO",
    "ana OR",
    "AND OR NOT",
    "*:*",
    "ana~ ana^5 \\",
    "/[/",
    "fs_scope:* ana",
    "+zebra -ana",
    "`}) DETACH DELETE n //",
    "\u0000ana\ud800",
    "🦉",
    "ana " * 3000,
    " ".join(f"w{number}" for number in range(3000)),
    "x" * 5000,
]


@pytest.mark.parametrize("query", HOSTILE)
async def test_a_query_is_only_words(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, query: str
) -> None:
    await small_world(write, group)
    named = {"ana", "sells", "a", "tarpaulin", "to", "acme"} & set(query_terms(query))
    asked = plan(group, query, methods=(Method.bm25,))
    assert await facts_found(reader, asked) == [["f1"] if named else []]
    raw = plan(group, methods=(Method.bm25,), terms=(query, "OR", "*", "ana"))
    assert await facts_found(reader, raw) == [["f1"]]


async def test_many_groups_at_once(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await small_world(write, group)
    others = tuple(f"{group}-{number}" for number in range(600))
    words = "tarpaulin " + " ".join(f"w{number}" for number in range(600))
    asked = plan(group, words, group_ids=(*others, group))
    assert await facts_found(reader, asked) == [["f1"], ["f1"]]


async def test_reads_by_id(
    reader: Neo4jGraphReader, write: GraphWriter, group: str, trips: RoundTrips
) -> None:
    await small_world(write, group)
    await write.facts(
        fact(group, "f0", "Acme", "Ana", "once", start=None),
        fact(
            group, "f2", "Ana", "Ana", "later", start=day(9), beliefs=[Belief(known_from=day(3), holds=False)]
        ),
        fact(group, "f3", "Ana", "Acme", "last", start=day(20)),
    )
    trips.seen.clear()
    told = await reader.episode(group, "e1")
    assert told is not None
    assert (told.episode.content, told.state) == ("Ana bought a tarpaulin", "received")
    assert [each.id for each in told.facts] == ["f1"]
    assert [each.name for each in told.entities] == ["Acme", "Ana"]
    assert told.created_at == LEARNED

    one = await reader.fact(group, "f1")
    assert one is not None
    assert one.episodes_at() == ("e1",)
    who = await reader.entity(group, "ana")
    assert who is not None
    assert (who.name, who.type, who.keys, who.community_id) == ("Ana", "Person", ("ana",), "c1")
    timeline = await reader.entity_facts(group, "ana")
    assert timeline is not None
    assert [each.id for each in timeline] == ["f0", "f2", "f1", "f3"]
    joined = await reader.community(group, "c1")
    assert joined is not None
    assert joined.members == ("acme", "ana")
    assert len(trips.seen) == 5

    foreign = f"{group}x"
    assert await reader.episode(foreign, "e1") is None
    assert await reader.fact(foreign, "f1") is None
    assert await reader.entity(foreign, "ana") is None
    assert await reader.entity_facts(foreign, "ana") is None
    assert await reader.community(foreign, "c1") is None
    assert await reader.entity_facts(group, "nobody") is None
    assert list(await reader.episodes(foreign, before=None, limit=10, thread_id=None)) == []


async def test_episodes_newest_first(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await write.episodes(
        episode(group, "late", "x", reference=day(9), sequence=1, thread="t"),
        episode(group, "tie-1", "x", reference=day(5), sequence=2, thread="t"),
        episode(group, "tie-2", "x", reference=day(5), sequence=3),
        episode(group, "early", "x", reference=day(2), sequence=4, thread="t" * 1500),
    )

    async def listed(before: datetime | None = None, limit: int = 10, thread: str | None = None) -> list[str]:
        answer = await reader.episodes(group, before=before, limit=limit, thread_id=thread)
        return [each.episode.id for each in answer]

    assert await listed() == ["late", "tie-2", "tie-1", "early"]
    assert await listed(limit=2) == ["late", "tie-2"]
    assert await listed(before=day(9)) == ["tie-2", "tie-1", "early"]
    assert await listed(before=day(5)) == ["early"]
    assert await listed(thread="t") == ["late", "tie-1"]
    assert await listed(thread="t" * 1500) == ["early"]


async def test_ping_answers_on_a_complete_schema(reader: Neo4jGraphReader) -> None:
    await reader.ping()


class SlowConnection(Neo4jConnection):
    """Asks the database for something that takes minutes instead of a fact, within the same time."""

    async def run(self, operation: str, query: Any, params: Mapping[str, Any]) -> list[Row]:
        if operation == "read_fact":
            query = neo4j.Query("UNWIND range(1, 4000000000) AS i RETURN count(i) AS n", timeout=query.timeout)
        return await super().run(operation, query, params)


async def test_the_database_ends_what_takes_too_long(bolt_uri: str) -> None:
    reader = Neo4jGraphReader(SlowConnection(bolt_uri, None, None, "neo4j", SilentObserver()), timeout=0.2)
    await reader.open()
    try:
        with pytest.raises(Retryable, match="took longer than"):
            await reader.fact(uuid.uuid4().hex, "f")
    finally:
        await reader.close()


async def test_a_database_that_is_not_there_is_retryable() -> None:
    reader = Neo4jGraphReader(Neo4jConnection("bolt://127.0.0.1:9", None, None, "neo4j", SilentObserver()))
    with pytest.raises(Retryable):
        await reader.open()
    with pytest.raises(Retryable):
        await reader.ping()
