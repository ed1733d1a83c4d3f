"""One sentence over several pairs, in whatever shape a model says it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.extraction.model.answer import Found, FoundFact
from pipeline.extraction.model.apart import apart
from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.llm.reading import read_answer
from tests.episodes import text
from tests.model_server import ModelServer

Build = Callable[..., ModelExtractor]
SENTENCE = "Ana, Luis and Mei founded Acme"
NAMES = [{"name": name} for name in ("Ana", "Luis", "Mei", "Acme")]


def said(subject: Any, target: Any = "Acme", **more: Any) -> dict[str, Any]:
    return {"subject": subject, "relation": "FOUNDED", "object": target, "fact": SENTENCE, **more}


@pytest.mark.parametrize(
    "facts",
    [
        [said("Ana"), said("Luis"), said("Mei")],
        [said(["Ana", "Luis", "Mei"])],
        [said([{"name": "Ana"}, {"name": "Luis"}, {"name": "Mei"}])],
        [said("Ana, Luis and Mei")],
        [{"source": ["Ana", "Luis", "Mei"], "relation": "FOUNDED", "target": ["Acme"], "fact": SENTENCE}],
        [said(["Ana", "Luis"]), said("Mei"), said("Ana")],
    ],
    ids=["repeated", "list", "objects", "one name", "renamed", "mixed"],
)
async def test_every_pair_has_a_statement_with_the_sentence(
    server: ModelServer, build: Build, facts: list[dict[str, Any]]
) -> None:
    server.on({"entities": NAMES, "facts": facts})
    found = await build(reflexion=0).extract(text("Ana, Luis and Mei founded Acme in 2019."), ())
    names = [m.name for m in found.mentions]
    assert sorted(names[s.subject] for s in found.statements) == ["Ana", "Luis", "Mei"]
    assert {names[s.object] for s in found.statements} == {"Acme"}
    assert {s.fact for s in found.statements} == {SENTENCE}
    # The date of the sentence is that of its one fact, over however many pairs.
    assert {s.valid_at for s in found.statements} == {datetime(2019, 1, 1, tzinfo=UTC)}


def test_lists_at_both_ends_are_all_pairs_up_to_a_bound() -> None:
    many = {"facts": [said([f"P{i}" for i in range(50)], [f"C{i}" for i in range(50)])]}
    import json

    assert len(read_answer(json.dumps(many), Found).answer.facts) == 100


@pytest.mark.parametrize(
    ("name", "known", "parts"),
    [
        ("Ana and Luis", {"ana", "luis"}, ["Ana", "Luis"]),
        ("Ana, Luis, and Mei", {"ana", "luis", "mei"}, ["Ana", "Luis", "Mei"]),
        ("Ana, Luis y Mei", {"ana", "luis", "mei"}, ["Ana", "Luis", "Mei"]),
        ("王丽、李明和陈刚", {"王丽", "李明", "陈刚"}, ["王丽", "李明", "陈刚"]),
        ("Ernst and Young", {"ernst and young", "ernst", "young"}, ["Ernst and Young"]),
        ("Ana and her brother", {"ana"}, ["Ana and her brother"]),
        ("Andy", {"andy"}, ["Andy"]),
    ],
)
def test_names_come_apart_where_every_part_is_known(name: str, known: set[str], parts: list[str]) -> None:
    fact = FoundFact(subject=name, relation="KNOWS", object="Eva", fact="…")
    assert [one.subject for one in apart(fact, known)] == parts
    turned = FoundFact(subject="Eva", relation="KNOWS", object=name, fact="…")
    assert [one.object for one in apart(turned, known)] == parts


async def test_the_model_is_told_so(server: ModelServer, build: Build) -> None:
    await build().extract(text("Ana founded Acme."), ())
    assert "one fact for each pair" in server.chats[0].system
