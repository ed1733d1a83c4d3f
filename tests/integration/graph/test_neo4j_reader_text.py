"""Text and vectors: what matches, how it is scored, and that a query is never a query language."""

from __future__ import annotations

import pytest

from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import (
    Filters,
    Method,
    Scope,
    TimeRange,
)
from pipeline.text.analysis import query_terms
from tests.integration.graph.reader_graph import (
    DIMENSION,
    GraphWriter,
    at_cosine,
    day,
    entity,
    fact,
    facts_found,
    found,
    ids,
    plan,
    small_world,
)


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


async def test_vectors_without_direction_are_left_out(
    reader: Neo4jGraphReader, write: GraphWriter, group: str
) -> None:
    await write.entities(entity(group, "Ana"), entity(group, "Acme"))
    await write.facts(
        fact(group, "zero", "Ana", "Acme", "kayak"),
        fact(group, "one", "Ana", "Acme", "kayak"),
        *(fact(group, f"other{number}", "Ana", "Acme", "kayak", start=day(200)) for number in range(210)),
        vectors=[[0.0] * DIMENSION, at_cosine(0.5), *(at_cosine(0.9, 2 + number) for number in range(210))],
    )
    early = Filters(valid_at=(TimeRange(lt=day(100)),))
    candidates = await reader.search(plan(group, "kayak", filters=early, similarities=True))
    assert sorted(found(candidates, Scope.facts, Method.bm25)) == ["one", "zero"]
    assert found(candidates, Scope.facts, Method.cosine) == ["one"]
    assert candidates.similarities == {Scope.facts: {}}
    without = await reader.search(plan(group, "kayak", vector=[0.0] * DIMENSION))
    assert found(without, Scope.facts, Method.cosine) == []
    assert without.degraded == ("cosine: the embedding of the query is zero",)
