"""The pure parts: grounding, scan, small talk, dates, pieces, prompt."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.extraction.model.answer import FoundFact
from pipeline.extraction.model.assemble import relation_name, type_name
from pipeline.extraction.model.chunks import chunks, record_chunks
from pipeline.extraction.model.dating import DateChecker
from pipeline.extraction.model.grounding import Ground
from pipeline.extraction.model.prompt import system_text
from pipeline.extraction.model.scan import Covered, leads
from pipeline.extraction.model.small_talk import is_small_talk
from pipeline.ontology.model import AttributeKind, AttributeType, EntityType, Ontology, Policy, RelationType
from pipeline.timeline.precision import Precision
from tests.episodes import REFERENCE


def day(year: int, month: int = 1, date: int = 1) -> datetime:
    return datetime(year, month, date, tzinfo=UTC)


@pytest.mark.parametrize(
    ("name", "text", "grounded"),
    [
        ("Ana", "I met Ana.", True),
        ("Bruno Falk", "Bruno called", True),
        ("Ángel Müller", "angel muller", True),
        ("New Delhi", "a new desk", False),
        ("Alice", "Bob is here", False),
        ("北京大学", "我在北京大学工作", True),
        ("清华大学", "我在北京大学工作", False),
        ("Berlin", "Berlin's mayor", True),
        ("SR-2023-052", "ticket SR-2023-052", True),
        ("SR-2024-999", "ticket SR-2023-052", False),
        ("C++", "I write C++ at work", True),
        ("🙂", "hi 🙂", True),
        ("", "anything", False),
    ],
)
def test_names_stand_in_the_text(name: str, text: str, *, grounded: bool) -> None:
    assert Ground(text).has_name(name) is grounded


def test_a_fact_needs_a_word_of_the_episode() -> None:
    ground = Ground("I moved there last week.", ["Bob: Lima is nice", "Ana"])
    assert ground.has_sentence("Ana moved to Lima")
    assert not ground.has_sentence("Bob likes Lima")
    assert Ground("Yes!", ["Do you like Lima?"]).has_sentence("Ana likes Lima")


@pytest.mark.parametrize(
    "text",
    [
        "Ok, thanks!",
        "hi",
        "Good morning",
        "Gracias!",
        "vale, perfecto",
        "好的",
        "谢谢你",
        "收到，谢谢",
        "👍👍",
        "lol",
    ],
)
def test_small_talk(text: str) -> None:
    assert is_small_talk(text)


@pytest.mark.parametrize(
    "text",
    ["I quit", "Thanks Bob", "ok, 5 pm", "me mudo", "我搬家了", "no more sushi", "good morning from Lima"],
)
def test_no_small_talk(text: str) -> None:
    assert not is_small_talk(text)


@pytest.mark.parametrize("text", ["yes", "Right, thanks", "sí", "对", "好的"])
def test_a_yes_to_a_question_is_no_small_talk(text: str) -> None:
    assert is_small_talk(text)
    assert not is_small_talk(text, answers_question=True)


@pytest.mark.parametrize(
    ("text", "words", "facts", "kinds"),
    [
        ("I work at Acme.", "Ana Acme works", ["Ana works at Acme"], []),
        ("I work at Acme with Bruno Falk.", "Ana Acme works", ["Ana works at Acme"], ["name"]),
        ("I paid 4,500 for it at Acme.", "Ana Acme paid", ["Ana paid Acme"], ["number"]),
        ("I paid 4,500 for it at Acme.", "Ana paid 4,500 at Acme", ["Ana paid 4,500 at Acme"], []),
        ("I quit my job yesterday.", "", [], ["date", "change"]),
        ("Have you met Bruno Falk?", "", [], []),
        ("Hello there. How are you?", "", [], []),
        ("Me mudé a Lima.", "Lima", [], ["change"]),
        ("我搬到了「星河」小区。", "", [], ["name", "change"]),
        ("On 5 May 2021 we met.", "met", ["Ana met us"], []),
    ],
)
def test_leads(text: str, words: str, facts: list[str], kinds: list[str]) -> None:
    found = leads(text, Covered(words, facts, dated="2021" in text), REFERENCE)
    assert [lead.kind for lead in found] == kinds
    assert all(lead.text in lead.reason for lead in found)


def fact(**more: str | None) -> FoundFact:
    made = {"subject": "Ana", "relation": "WORKS_AT", "object": "Acme", "fact": "Ana works at Acme"} | more
    return FoundFact.model_validate(made)


NOW = (REFERENCE, Precision.second)
NEVER = (None, None)
DATES = {
    "no date": ("I work at Acme.", {}, (*NOW, *NEVER), "none"),
    "the model's date stands alone": (
        "I work at Acme.",
        {"valid_at": "2019"},
        (day(2019), Precision.year, *NEVER),
        "none",
    ),
    "a date that is no date": ("I work at Acme.", {"valid_at": "soon"}, (*NOW, *NEVER), "none"),
    "rule and model agree": (
        "I joined Acme last month.",
        {"when": "last month", "valid_at": "2024-02"},
        (day(2024, 2), Precision.month, *NEVER),
        "same",
    ),
    "the model invents a day": (
        "I joined Acme last month.",
        {"when": "last month", "valid_at": "2024-02-17"},
        (day(2024, 2), Precision.month, *NEVER),
        "same",
    ),
    "the model miscounts": (
        "I joined Acme last month.",
        {"when": "last month", "valid_at": "2024-01"},
        (day(2024, 2), Precision.month, *NEVER),
        "disagrees",
    ),
    "the model is silent": (
        "I joined Acme yesterday.",
        {},
        (day(2024, 3, 13), Precision.day, *NEVER),
        "supplied",
    ),
    "from … to": (
        "I worked at Acme from 2019 to 2021.",
        {"status": "held", "when": "from 2019 to 2021", "valid_at": "2019", "invalid_at": "2021"},
        (day(2019), Precision.year, day(2021), Precision.year),
        "same",
    ),
    "until": (
        "I worked at Acme until 2021.",
        {"status": "held", "when": "until 2021", "invalid_at": "2021"},
        (*NEVER, day(2021), Precision.year),
        "same",
    ),
    "held at some time": (
        "I worked at Acme in 2019.",
        {"status": "held", "when": "in 2019", "valid_at": "2019"},
        (day(2019), Precision.year, day(2020), Precision.year),
        "same",
    ),
    "held, no date": ("I used to work at Acme.", {"status": "held"}, (*NEVER, *NOW), "none"),
    "ended, no date": ("I no longer work at Acme.", {"status": "ended"}, (*NEVER, *NOW), "none"),
    "ended on a day": (
        "I left Acme yesterday.",
        {"status": "ended", "when": "yesterday", "invalid_at": "2024-03-13"},
        (*NEVER, day(2024, 3, 13), Precision.day),
        "same",
    ),
    "Spanish": (
        "Trabajo en Acme desde el mes pasado.",
        {"when": "el mes pasado", "valid_at": "2024-02"},
        (day(2024, 2), Precision.month, *NEVER),
        "same",
    ),
    "Chinese": (
        "我上个月加入了Acme。",
        {"when": "上个月"},
        (day(2024, 2), Precision.month, *NEVER),
        "supplied",
    ),
}


@pytest.mark.parametrize(("text", "found", "interval", "agreement"), DATES.values(), ids=DATES)
def test_dates(text: str, found: dict[str, str], interval: tuple[object, ...], agreement: str) -> None:
    dating = DateChecker(text, REFERENCE).date(fact(**found), alone=True)
    assert dating.interval == interval
    assert dating.agreement == agreement


def test_a_date_of_another_fact_is_not_taken() -> None:
    checker = DateChecker("I work at Acme and went to Lima yesterday.", REFERENCE)
    assert checker.date(fact(), alone=False).interval == (*NOW, *NEVER)


@given(st.text(max_size=300))
def test_any_text_has_dates_leads_and_pieces_without_error(text: str) -> None:
    DateChecker(text, REFERENCE).date(fact(), alone=True)
    leads(text, Covered("", [], dated=False), REFERENCE)
    assert Ground(text).has_name("Ana") in (True, False)
    assert chunks(text, 50, 10)


@given(
    st.lists(st.text("abc ", min_size=1, max_size=30), max_size=40), st.integers(20, 200), st.integers(0, 15)
)
def test_pieces_hold_every_sentence(parts: list[str], size: int, overlap: int) -> None:
    text = " ".join(f"{part.strip()}x." for part in parts)
    pieces = chunks(text, size, overlap)
    assert all(len(piece) <= max(size, 40) for piece in pieces)
    joined = " ".join(pieces)
    assert all(f"{part.strip()}x." in joined for part in parts)


def test_pieces_of_a_record_hold_whole_records() -> None:
    content = [{"name": f"Name{i}", "city": "Lima"} for i in range(40)]
    pieces = record_chunks(content, 400)
    assert len(pieces) > 3
    assert [item for piece in pieces for item in json.loads(piece)] == content
    assert all(len(piece) <= 400 for piece in pieces)


def test_a_single_huge_value_is_cut() -> None:
    pieces = record_chunks({"text": "x" * 5000}, 1000)
    assert all(len(piece) <= 1001 for piece in pieces)
    assert sum(piece.count("x") for piece in pieces) >= 5000


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("works at", "WORKS_AT"),
        ("worksAt", "WORKS_AT"),
        ("WORKS-AT", "WORKS_AT"),
        ("喜欢", "喜欢"),
        ("!!", "RELATES_TO"),
    ],
)
def test_relation_names(said: str, name: str) -> None:
    assert relation_name(said) == name


@pytest.mark.parametrize(
    ("said", "name"), [("software product", "SoftwareProduct"), ("Entity", None), (None, None)]
)
def test_type_names(said: str | None, name: str | None) -> None:
    assert type_name(said) == name


def test_the_instructions_tell_the_ontology() -> None:
    person = EntityType(
        name="Person",
        description="A human being",
        attributes={"tier": AttributeType(kind=AttributeKind.text, choices=("gold", "basic"))},
    )
    ontology = Ontology(
        name="crm",
        entity_types=(person, EntityType(name="Company")),
        relation_types=(RelationType(name="WORKS_AT", signatures=(("Person", "Company"),)),),
        excluded_types=("Greeting",),
        policy=Policy.refuse,
    )
    told = system_text(ontology)
    for words in (
        "Person: A human being",
        "tier (text, one of gold/basic)",
        "WORKS_AT (Person → Company)",
        "Greeting",
    ):
        assert words in told
    assert "leave out what is none of these" in told
    assert "Acme" not in system_text(None)
