"""Filters are hard, and they apply before the limit."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import (
    Filters,
    Method,
    Scope,
    TimeRange,
)
from pipeline.model.community import Community
from pipeline.model.fact import Fact
from tests.integration.graph.reader_graph import (
    LEARNED,
    NOW,
    GraphWriter,
    at_cosine,
    day,
    entity,
    episode,
    fact,
    facts_found,
    found,
    ids,
    plan,
)


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
    every = (Method.bm25, Method.cosine, Method.bfs)
    base = plan(group, "kayak", limit=3, methods=every, bfs_origins=("ana",), known_at=known_at)
    for name, filters in WANTED.items():
        assert await facts_found(reader, replace(base, filters=filters)) == [["wanted"]] * 3, name
    unfiltered = await reader.search(base)
    assert "wanted" not in ids(unfiltered.items[Scope.facts])
    both = Filters(relations=("SAW",), metadata={"channel": "mail"})
    assert await facts_found(reader, replace(base, filters=both)) == [[], [], []]


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
    cases: list[tuple[dict[str, str | int | float | bool], list[str], list[str], list[str], list[str]]] = [
        ({"p": 2}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
        ({"p": 2.0}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
        ({"p": "2"}, ["f-both", "f-text"], ["acme", "ana"], ["e-text"], ["c"]),
        ({"p": True}, ["f-true"], [], ["e-true"], []),
        ({"p": 1}, [], [], [], []),
        ({"p": 2, "c": "mail"}, [], [], [], []),
        ({"p": 2, "c": "chat"}, ["f-both", "f-int"], ["ana"], ["e-int"], []),
    ]
    for metadata, facts, entities, episodes, communities in cases:
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


async def test_types_of_entities(reader: Neo4jGraphReader, write: GraphWriter, group: str) -> None:
    await write.entities(
        entity(group, "Ana", "Person"), entity(group, "Acme", "Company"), entity(group, "It", None)
    )
    every = (Method.bm25, Method.cosine, Method.bfs)
    await write.facts(
        fact(group, "f", "Ana", "Acme", "x"),
        fact(group, "g", "It", "Ana", "x"),
        fact(group, "h", "It", "Acme", "x"),
    )
    for types, expected in (
        (("Person",), [["ana"], ["ana"], ["ana"]]),
        (("Company", "Person", "Company"), [["acme", "ana"], ["acme", "ana"], ["acme", "ana"]]),
        (("Ship",), [[], [], []]),
        (("Entity",), [["acme", "ana", "it"], ["acme", "ana", "it"], ["acme", "ana"]]),
    ):
        candidates = await reader.search(
            plan(
                group,
                "about",
                scopes=(Scope.entities,),
                methods=every,
                bfs_origins=("it",),
                filters=Filters(entity_types=types),
            )
        )
        assert [sorted(found(candidates, Scope.entities, method)) for method in every] == expected, types


async def test_types_and_relations_of_any_length(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    long = "ж" * 20_000
    await write.entities(entity(group, "Ana", f"{long}1"), entity(group, "Acme", f"{long}2"))
    await write.facts(
        fact(group, "f1", "Ana", "Acme", "kayak", relation=f"{long}1"),
        fact(group, "f2", "Acme", "Acme", "kayak", relation=f"{long}2"),
    )
    asked = plan(group, "kayak ana acme", scopes=(Scope.facts, Scope.entities))
    by_type = await reader.search(replace(asked, filters=Filters(entity_types=(f"{long}1",))))
    assert [found(by_type, leg.scope, leg.method) for leg in by_type.legs] == [
        ["f1"],
        ["f1"],
        ["ana"],
        ["ana"],
    ]
    assert await facts_found(reader, replace(asked, filters=Filters(relations=(f"{long}2",)))) == [
        ["f2"],
        ["f2"],
    ]
    ana = await reader.entity(group, "ana")
    assert ana is not None
    assert ana.type == f"{long}1"
