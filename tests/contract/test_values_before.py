"""What stood in a slot before a value began: read for many facts at once, as it was believed at any time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.search import SlotStart
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Fact
from search_api.requests import ContextRequest
from search_api.retrieval.search import Retrieval
from tests.contract.kit import DIMENSION, Graph, belief, day, entity, episode, evidence, fact

PEOPLE = ("Ana", "Bob", "Carl", "Lima", "Rome", "Oslo", "Bern", "Crete")
ONE = Cardinality.one


def start(source: str, relation: str, target: str, number: int, symmetric: bool = False) -> SlotStart:
    return SlotStart(source, relation, target, day(number), symmetric)


async def stored(graph: Graph, group: str, *facts: Fact) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    await graph.entities(one, *(entity(group, name) for name in PEOPLE))
    said = [
        evidence(
            f"v-{each.id}",
            each.source.id,
            each.relation,
            each.target.id,
            Cardinality(each.cardinality),
            symmetric=each.symmetric,
        )
        for each in facts
    ]
    await graph.facts(one, *facts, evidence=said)


def lives(group: str, who: str, where: str, *beliefs: Any, **more: Any) -> Fact:
    given = {"relation": "LIVES_IN", "cardinality": "one", **more}
    return fact(entity(group, who), given.pop("relation"), entity(group, where), *beliefs, **given)


def moves(group: str) -> list[Fact]:
    """Ana in Lima, Rome, Oslo; that Rome ended was learned on day 10."""
    return [
        lives(group, "Ana", "Lima", belief(1, 1, 5)),
        lives(group, "Ana", "Rome", belief(1, 5), belief(10, 5, 9)),
        lives(group, "Ana", "Oslo", belief(9, 9)),
        lives(group, "Ana", "Bern", belief(1, 6, 8), belief(2, 6, 8, holds=False)),
        lives(group, "Ana", "Crete", belief(1, 6, 9), cardinality="many"),
        lives(group, "Ana", "Bern", belief(1, 6, 9), relation="BORN_IN", id="born"),
        lives(group, "Bob", "Lima", belief(1, 1, 9), id="bob-lima"),
    ]


async def told(graph: Graph, group: str, *starts: SlotStart, known: int | None = None) -> list[str]:
    known_at = None if known is None else day(known)
    found: Sequence[Fact] = await graph.reader.values_before(group, starts, known_at)
    return sorted(each.id for each in found)


async def test_the_last_value_that_had_ended_by_then(graph: Graph, group: str, other_group: str) -> None:
    await stored(graph, group, *moves(group))
    oslo, rome = start("ana", "LIVES_IN", "oslo", 9), start("ana", "LIVES_IN", "rome", 5)
    assert await told(graph, group, oslo) == ["ana-lives_in-rome"]
    assert await told(graph, group, rome) == ["ana-lives_in-lima"]
    assert await told(graph, group, oslo, rome) == ["ana-lives_in-lima", "ana-lives_in-rome"]
    # Nothing ended before Lima; nothing is known of another group, entity or relation; of its own pair nothing is told.
    assert await told(graph, group, start("ana", "LIVES_IN", "lima", 1)) == []
    assert await told(graph, group, start("ana", "LIVES_IN", "lima", 5)) == []
    assert await told(graph, group, start("carl", "LIVES_IN", "oslo", 9)) == []
    assert await told(graph, group, start("ana", "LIKES", "oslo", 9)) == []
    assert await told(graph, group) == []
    assert await told(graph, other_group, oslo) == []


async def test_it_is_told_as_it_was_believed(graph: Graph, group: str) -> None:
    await stored(graph, group, *moves(group))
    oslo = start("ana", "LIVES_IN", "oslo", 9)
    assert await told(graph, group, oslo, known=10) == ["ana-lives_in-rome"]
    assert await told(graph, group, oslo, known=9) == ["ana-lives_in-lima"]
    # On day 1 Bern was still believed.
    assert await told(graph, group, oslo, known=1) == ["ana-lives_in-bern"]
    assert await told(graph, group, oslo, known=0) == []


async def test_each_end_of_a_symmetric_relation_has_a_slot(graph: Graph, group: str) -> None:
    married = {"relation": "MARRIED_TO", "symmetric": True}
    await stored(
        graph,
        group,
        lives(group, "Ana", "Bob", belief(1, 1, 4), **married),
        lives(group, "Ana", "Carl", belief(1, 5), **married),
        lives(group, "Bob", "Rome", belief(1, 6), **married),
    )
    assert await told(graph, group, start("ana", "MARRIED_TO", "carl", 5, True)) == ["ana-married_to-bob"]
    assert await told(graph, group, start("bob", "MARRIED_TO", "rome", 6, True)) == ["ana-married_to-bob"]
    assert await told(graph, group, start("bob", "MARRIED_TO", "ana", 6, True)) == []


@pytest.mark.parametrize(
    ("more", "line"),
    [
        ({}, "- Ana lives in Oslo (2024-01-09 - present)"),
        (
            {"replaced": True},
            "- Ana lives in Oslo (2024-01-09 - present) (before: Ana lives in Rome, 2024-01-05 - 2024-01-09)",
        ),
        (
            {"replaced": True, "known_at": "2024-01-09"},
            "- Ana lives in Oslo (2024-01-09 - present) (before: Ana lives in Lima, 2024-01-01 - 2024-01-05)",
        ),
    ],
)
async def test_a_context_tells_what_a_fact_replaced(
    graph: Graph, group: str, more: dict[str, Any], line: str
) -> None:
    await stored(graph, group, *moves(group))
    retrieval = Retrieval(graph.reader, HashingEmbedder(DIMENSION), None, lambda: day(20))
    asked = {
        "query": "Ana lives in Oslo",
        "group_ids": [group],
        "scopes": ["facts"],
        "recipe": "bm25",
        **more,
    }
    answer = await retrieval.context(ContextRequest.model_validate(asked))
    lines = answer.context.split("\n")
    assert line in lines
    assert "ana-lives_in-oslo" in answer.facts
