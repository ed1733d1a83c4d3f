"""Filters of a search: ranges, types, relations and metadata, before the limit."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.graph.search import Filters, Method, Scope, TimeRange
from pipeline.model.fact import Support
from tests.contract.kit import (
    MICROSECOND,
    Graph,
    belief,
    day,
    entity,
    episode,
    fact,
    leg,
    plan,
    supported,
)
from tests.contract.owls import ana_and_bob, between_ana_and_bob, owl, owls

DECOYS = 40


@pytest.mark.parametrize(
    ("match", "wanted"),
    [
        ({"beliefs": (belief(1, 50, 60),)}, {"as_of": day(55)}),
        ({"beliefs": (belief(1, 50, 60), belief(9, holds=False))}, {"as_of": day(55), "known_at": day(8)}),
        ({"relation": "HEARD"}, {"filters": Filters(relations=("HEARD", "FELT"))}),
        ({"beliefs": (belief(1, 50),)}, {"filters": Filters(valid_at=(TimeRange(gt=day(49)),))}),
        ({"beliefs": (belief(1, 1, 50),)}, {"filters": Filters(invalid_at=(TimeRange(gte=day(50)),))}),
        ({"beliefs": (belief(50, 1, 2),)}, {"filters": Filters(created_at=(TimeRange(gte=day(50)),))}),
        ({"support": supported(["tagged"])}, {"filters": Filters(metadata={"tag": "x"})}),
        ({"target": "Zed"}, {"filters": Filters(entity_types=("Robot",))}),
    ],
)
@pytest.mark.parametrize("method", list(Method))
async def test_filters_apply_before_the_limit(
    graph: Graph, group: str, match: dict[str, Any], wanted: dict[str, Any], method: Method
) -> None:
    """Better candidates that do not pass take no place."""
    ana, bob, zed = entity(group, "Ana"), entity(group, "Bob"), entity(group, "Zed", type="Robot")
    target = zed if "target" in match else bob
    changes = {key: value for key, value in match.items() if key not in ("target", "beliefs", "relation")}
    right = fact(
        ana,
        match.get("relation", "SAW"),
        target,
        *match.get("beliefs", (belief(1, 1, 2),)),
        id="right",
        fact="owl and many other words that make it a worse match",
        **changes,
    )
    decoys = [fact(ana, "SAW", bob, belief(1, 1, 2), id=f"decoy{n}", fact="owl") for n in range(DECOYS)]
    await graph.receive(episode(group, "tagged", metadata={"tag": "x"}, sequence=2))
    await graph.world(episode(group, "e1"), right, *decoys, entities=(ana, bob, zed))
    found = await graph.search(group, "owl", methods=(method,), limit=2, bfs_origins=("ana",), **wanted)
    assert list(leg(found, Scope.facts, method)) == ["right"]


@pytest.mark.parametrize(
    ("bounds", "expected"),
    [
        (TimeRange(gte=day(5)), ["at", "late"]),
        (TimeRange(gt=day(5)), ["late"]),
        (TimeRange(lte=day(5)), ["at", "early"]),
        (TimeRange(lt=day(5)), ["early"]),
        (TimeRange(gte=day(5), lt=day(5) + MICROSECOND), ["at"]),
        (TimeRange(gt=day(5), lt=day(5)), []),
        (TimeRange(), ["at", "early", "late", "none"]),
    ],
)
@pytest.mark.parametrize("field", ["valid_at", "invalid_at"])
async def test_ranges_are_met_by_known_times_only(
    graph: Graph, group: str, field: str, bounds: TimeRange, expected: list[str]
) -> None:
    if field == "valid_at":
        beliefs = {"none": belief(1, None), "early": belief(1, 4), "at": belief(1, 5), "late": belief(1, 6)}
    else:
        beliefs = {
            "none": belief(1, 1),
            "early": belief(1, 1, 4),
            "at": belief(1, 1, 5),
            "late": belief(1, 1, 6),
        }
    await between_ana_and_bob(graph, group, *(owl(group, name, one) for name, one in beliefs.items()))
    assert await owls(graph, group, filters=Filters(**{field: (bounds,)})) == [expected] * 3


async def test_ranges_are_alternatives_and_fields_are_conditions(graph: Graph, group: str) -> None:
    await between_ana_and_bob(graph, group, *(owl(group, f"f{n}", belief(n, n, n + 2)) for n in range(1, 7)))
    either = (TimeRange(lt=day(2)), TimeRange(gte=day(5)))
    assert await owls(graph, group, filters=Filters(valid_at=either)) == [["f1", "f5", "f6"]] * 3
    both = Filters(valid_at=either, invalid_at=(TimeRange(lte=day(7)),), created_at=(TimeRange(gt=day(1)),))
    assert await owls(graph, group, filters=both) == [["f5"]] * 3


async def test_filters_ask_what_was_believed_then(graph: Graph, group: str) -> None:
    await between_ana_and_bob(graph, group, owl(group, "owl", belief(1, 5), belief(3, 6, 9)))
    ended = Filters(invalid_at=(TimeRange(gte=day(1)),))
    assert await owls(graph, group, filters=ended) == [["owl"]] * 3
    assert await owls(graph, group, filters=ended, known_at=day(2)) == [[]] * 3
    assert (
        await owls(graph, group, filters=Filters(valid_at=(TimeRange(lte=day(5)),)), known_at=day(2))
        == [["owl"]] * 3
    )


async def test_types_match_either_end_of_a_fact_and_the_entity_itself(graph: Graph, group: str) -> None:
    ana, acme, thing = (
        entity(group, "Ana", type="Person"),
        entity(group, "Acme", type="Company"),
        entity(group, "Ding", type=None),
    )
    await graph.world(
        episode(group, "e1"),
        fact(ana, "OWNS", acme, id="f1", fact="owl one"),
        fact(acme, "OWNS", thing, id="f2", fact="owl two"),
        fact(thing, "IS", thing, id="f3", fact="owl three"),
        entities=(ana, acme, thing),
    )
    for types, facts, entities in (
        (("Person",), ["f1"], ["ana"]),
        (("Company",), ["f1", "f2"], ["acme"]),
        (("Person", "Company"), ["f1", "f2"], ["acme", "ana"]),
        (("person",), [], []),
        ((), ["f1", "f2", "f3"], ["acme", "ana", "ding"]),
    ):
        found = await graph.search(
            group,
            "owl ana acme ding",
            scopes=(Scope.facts, Scope.entities),
            filters=Filters(entity_types=types),
        )
        for method in (Method.bm25, Method.cosine):
            assert sorted(leg(found, Scope.facts, method)) == facts
            assert sorted(leg(found, Scope.entities, method)) == entities


METADATA = {
    "text": {"k": "1", "x": "a"},
    "number": {"k": 1, "x": "a"},
    "float": {"k": 1.0, "x": "b"},
    "half": {"k": 1.5},
    "yes": {"k": True},
    "hostile": {"k' OR '1'='1": 'it\'s "x"'},
}


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ({"k": "1"}, ["text"]),
        ({"k": 1}, ["float", "number"]),
        ({"k": 1.0}, ["float", "number"]),
        ({"k": 1.5}, ["half"]),
        ({"k": True}, ["yes"]),
        ({"k": False}, []),
        ({"k": 1, "x": "a"}, ["number"]),
        ({"x": "a"}, ["number", "text"]),
        ({"k' OR '1'='1": 'it\'s "x"'}, ["hostile"]),
        ({"K": "1"}, []),
        ({}, sorted(METADATA)),
    ],
)
async def test_metadata_keeps_its_json_type(
    graph: Graph, group: str, wanted: dict[str, Any], expected: list[str]
) -> None:
    ana, bob = ana_and_bob(group)
    episodes = [
        episode(group, n, f"owl {n}", metadata=m, sequence=i) for i, (n, m) in enumerate(METADATA.items())
    ]
    await graph.receive(*episodes)
    await graph.entities(episodes[0], ana, bob)
    await graph.facts(episodes[0], *(owl(group, name, support=supported([name])) for name in METADATA))
    filters = Filters(metadata=wanted)
    assert await owls(graph, group, filters=filters) == [expected] * 3
    found = await graph.search(group, "owl", scopes=(Scope.episodes,), filters=filters)
    assert sorted(leg(found, Scope.episodes, Method.bm25)) == expected
    assert sorted(leg(found, Scope.episodes, Method.cosine)) == expected


async def test_all_metadata_must_be_on_one_supporting_episode(graph: Graph, group: str) -> None:
    ana, bob = ana_and_bob(group)
    one, two, three = (
        episode(group, "e1", metadata={"a": 1}),
        episode(group, "e2", metadata={"b": 2}, sequence=2),
        episode(group, "e3", metadata={"a": 1, "b": 2}, sequence=3),
    )
    await graph.receive(two, three)
    moved = (
        Support(episode_id="e3", evidence_id="v1", known_from=day(1), known_to=day(4)),
        Support(episode_id="e1", evidence_id="v2", known_from=day(4)),
    )
    await graph.world(
        one,
        owl(group, "apart", support=supported(["e1", "e2"])),
        owl(group, "together", support=supported(["e1", "e3"])),
        owl(group, "moved", support=moved),
        entities=(ana, bob),
    )
    await graph.entities(three, mentioned=("bob",))
    both = Filters(metadata={"a": 1, "b": 2})
    assert await owls(graph, group, filters=both) == [["together"]] * 3
    assert await owls(graph, group, filters=both, known_at=day(3)) == [["moved", "together"]] * 3
    found = await graph.reader.search(
        plan(group, "ana bob", scopes=(Scope.entities,), methods=(Method.bm25,), filters=both)
    )
    assert list(leg(found, Scope.entities, Method.bm25)) == ["bob"]


async def test_episodes_are_filtered_by_their_reference_time(graph: Graph, group: str) -> None:
    await graph.receive(
        *(episode(group, f"e{n}", "owl", reference_time=day(n), sequence=n) for n in (1, 2, 3)), at=day(9)
    )
    filters = Filters(valid_at=(TimeRange(gte=day(2)),), created_at=(TimeRange(lte=day(9)),))
    found = await graph.search(group, "owl", scopes=(Scope.episodes,), filters=filters)
    assert sorted(leg(found, Scope.episodes, Method.bm25)) == ["e2", "e3"]
    filters = Filters(created_at=(TimeRange(lt=day(9)),))
    found = await graph.search(group, "owl", scopes=(Scope.episodes,), filters=filters)
    assert leg(found, Scope.episodes, Method.cosine) == {}
