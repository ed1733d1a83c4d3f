"""When two statements are one fact: spelling, direction, wording; and that triples stay as they are given."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.model.extraction import Cardinality
from pipeline.ontology.model import Ontology, RelationType
from pipeline.ontology.registry import OntologyRegistry
from pipeline.ontology.rules import rules_of
from pipeline.stages.same_fact import sentence_key
from pipeline.stages.stating import Vocabulary
from pipeline.timeline.relation_rules import BuiltInRelations, relation_name
from tests.unit.stages.conftest import Line, triple
from tests.unit.stages.reading import Said, facts_of, read, told


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("WORKS_AT", "WORKS_AT"),
        ("works at", "WORKS_AT"),
        ("Works-At", "WORKS_AT"),
        (" works__at ", "WORKS_AT"),
        ("ｗｏｒｋｓ　ａｔ", "WORKS_AT"),
        ("vive\u200b en", "VIVE_EN"),
        ("就读于", "就读于"),
        ("estudió", "ESTUDIÓ"),
        ("straße", "STRASSE"),
        ("___", "___"),
    ],
)
def test_spellings_of_a_relation(given: str, name: str) -> None:
    assert relation_name(given) == name
    assert relation_name(name) == name


def test_built_in_inverses_end_at_a_relation_that_stays() -> None:
    rules = BuiltInRelations()
    for name in ("EMPLOYS", "child of", "Owned_By", "founded by", "HAS_CHILD", "HAS_PARENT", "led-by"):
        kept, _ = rules.canonical(name)
        assert rules.canonical(kept) == (kept, False)
    assert rules.canonical("EMPLOYS") == ("WORKS_AT", True)
    assert rules.canonical("HAS_CHILD") == ("PARENT_OF", False)
    assert rules.canonical("HAS_PARENT") == ("PARENT_OF", True)


async def test_spellings_of_a_read_relation_are_one_slot(line: Line) -> None:
    await read(line, Said("Ana", "lives in", "Lima", "2022-01-01", one=True), at="2022-01-01")
    await read(line, Said("Ana", "LIVES_IN", "Quito", "2023-01-01", one=True), at="2023-01-01")
    assert told(await facts_of(line, "Ana")) == [
        ("Ana", "LIVES_IN", "Lima", "2022-01-01", "2023-01-01"),
        ("Ana", "LIVES_IN", "Quito", "2023-01-01", None),
    ]


async def test_a_triple_keeps_its_relation_and_its_slot(line: Line) -> None:
    await line.say(triple("Ana", "lives in", "Lima", valid_at="2022-01-01", cardinality="one"))
    await line.say(triple("Ana", "LIVES_IN", "Quito", valid_at="2023-01-01", cardinality="one"))
    await line.say(triple("Acme", "EMPLOYS", "Ana", valid_at="2023-01-01"))
    await line.say(triple("Zoe", "MARRIED_TO", "Ana", valid_at="2023-01-01", cardinality="one"))
    await line.say(triple("Ana", "MARRIED_TO", "Zoe", valid_at="2023-01-01", cardinality="one"))
    assert sorted(told(await facts_of(line, "Ana"))) == [
        ("Acme", "EMPLOYS", "Ana", "2023-01-01", None),
        ("Ana", "LIVES_IN", "Quito", "2023-01-01", None),
        ("Ana", "MARRIED_TO", "Zoe", "2023-01-01", None),
        ("Ana", "lives in", "Lima", "2022-01-01", None),
        ("Zoe", "MARRIED_TO", "Ana", "2023-01-01", None),
    ]


async def test_a_symmetric_relation_is_one_fact_from_both_ends(line: Line) -> None:
    await read(line, Said("Ana", "MARRIED_TO", "Ben", "2015-05-01", one=True), at="2020-01-01")
    await read(line, Said("Ben", "MARRIED_TO", "Ana", "2015-05-01", one=True), at="2021-01-01")
    (fact,) = await facts_of(line, "Ana")
    assert {fact.source.name, fact.target.name} == {"Ana", "Ben"}
    assert fact.episodes == ("e1", "e2")


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("who", ["Ana", "Ben"])
async def test_a_new_partner_of_either_end_closes_a_marriage(line: Line, who: str, swap: bool) -> None:
    await read(line, Said("Ana", "MARRIED_TO", "Ben", "2015-05-01", one=True), at="2015-05-01")
    pair = ("Cyd", who) if swap else (who, "Cyd")
    await read(line, Said(pair[0], "MARRIED_TO", pair[1], "2020-05-01", one=True), at="2020-05-01")
    spans = {frozenset((f[0], f[2])): f[3:] for f in told(await facts_of(line, who))}
    assert spans == {
        frozenset(("Ana", "Ben")): ("2015-05-01", "2020-05-01"),
        frozenset((who, "Cyd")): ("2020-05-01", None),
    }
    assert [c.rule for c in line.changes if c.change == "invalidated"] == ["superseded"]


async def test_a_declared_inverse_is_one_fact_and_one_slot(line: Line) -> None:
    await read(line, Said("Acme", "EMPLOYS", "Ana", "2020-01-01"), at="2020-01-01")
    await read(line, Said("Ana", "WORKS_AT", "Acme", "2020-01-01", one=True), at="2020-02-01")
    await read(line, Said("Globex", "employs", "Ana", "2023-01-01"), at="2023-01-01")
    assert told(await facts_of(line, "Ana")) == [
        ("Ana", "WORKS_AT", "Acme", "2020-01-01", "2023-01-01"),
        ("Ana", "WORKS_AT", "Globex", "2023-01-01", None),
    ]
    assert (await facts_of(line, "Ana"))[0].episodes == ("e1", "e2")


async def test_what_an_ontology_declares_holds_for_triples_too(line: Line) -> None:
    people = Ontology(
        name="people",
        relation_types=(
            RelationType(name="REPORTS_TO", cardinality=Cardinality.one, other_names=("reports to",)),
            RelationType(name="MANAGES", inverse_of="REPORTS_TO"),
            RelationType(name="TEAMS_UP_WITH", symmetric=True),
        ),
    )
    vocabulary = Vocabulary(ontology=rules_of(OntologyRegistry([people], default="people")))
    line.facts = replace(line.facts, vocabulary=vocabulary)
    await line.say(triple("Mia", "MANAGES", "Ana", valid_at="2020-01-01"))
    await line.say(
        triple("Ana", "REPORTS_TO", "Leo", valid_at="2022-01-01", cardinality="one"), at="2022-01-01"
    )
    await line.say(triple("Ana", "TEAMS_UP_WITH", "Ben"), triple("Ben", "TEAMS_UP_WITH", "Ana"))
    await line.say(
        triple("Ana", "reports to", "Kim", valid_at="2023-01-01", cardinality="one"), at="2023-01-01"
    )
    facts = told(await facts_of(line, "Ana"))
    assert ("Ana", "REPORTS_TO", "Mia", "2020-01-01", "2022-01-01") in facts
    # No turn, no change: the spelling of a triple is its own.
    assert ("Ana", "REPORTS_TO", "Leo", "2022-01-01", None) in facts
    assert ("Ana", "reports to", "Kim", "2023-01-01", None) in facts
    assert len([f for f in facts if f[1] == "TEAMS_UP_WITH"]) == 1


def test_an_inverse_must_be_of_a_relation_that_stays() -> None:
    with pytest.raises(ValueError, match="cannot be the inverse"):
        Ontology(name="x", relation_types=(RelationType(name="A", inverse_of="B"),))
    with pytest.raises(ValueError, match="cannot be the inverse"):
        Ontology(
            name="x",
            relation_types=(RelationType(name="A", inverse_of="B"), RelationType(name="B", inverse_of="A")),
        )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ana likes tea.", "ana  likes TEA"),
        ("Ana, who likes tea", "Ana who likes tea!"),
        ("安娜喜欢茶。", "安娜喜欢茶"),
        ("¿Ana vive en Lima?", "Ana vive en Lima"),
    ],
)
def test_sentences_that_are_the_same(one: str, other: str) -> None:
    assert sentence_key(one) == sentence_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ana has 2 cats", "Ana has 3 cats"), ("año", "ano"), ("it is -5 outside", "it is 5 outside")],
)
def test_sentences_that_are_not(one: str, other: str) -> None:
    assert sentence_key(one) != sentence_key(other)


async def test_the_same_words_about_the_same_pair_are_one_fact(line: Line) -> None:
    words = "Ana enjoys tea."
    await read(line, Said("Ana", "ENJOYS", "tea", "2024-01-01", sentence=words))
    await read(
        line, Said("Ana", "IS_FOND_OF", "tea", "2024-01-01", sentence="ana enjoys TEA"), at="2024-02-01"
    )
    await read(line, Said("tea", "ENJOYED_BY", "Ana", "2024-01-01", sentence=words), at="2024-03-01")
    (fact,) = await facts_of(line, "Ana")
    assert (fact.source.name, fact.relation, fact.fact, fact.episodes) == (
        "Ana",
        "ENJOYS",
        words,
        ("e1", "e2", "e3"),
    )


async def test_the_same_words_twice_in_one_episode_are_one_fact(line: Line) -> None:
    words = "Ana enjoys tea."
    await read(
        line, Said("Ana", "ENJOYS", "tea", sentence=words), Said("Ana", "ADORES", "tea", sentence=words)
    )
    assert [f.relation for f in await facts_of(line, "Ana")] == ["ENJOYS"]


async def test_a_slot_is_worth_more_than_the_wording(line: Line) -> None:
    words = "Ana is with Acme."
    await read(line, Said("Ana", "WITH", "Acme", "2020-01-01", sentence=words), at="2020-01-01")
    await read(line, Said("Ana", "WORKS_AT", "Acme", "2020-01-01", sentence=words, one=True), at="2020-02-01")
    await read(line, Said("Ana", "WORKS_AT", "Globex", "2021-01-01", one=True), at="2021-01-01")
    assert ("Ana", "WORKS_AT", "Acme", "2020-01-01", "2021-01-01") in told(await facts_of(line, "Ana"))


async def test_a_triple_in_the_same_words_keeps_its_relation(line: Line) -> None:
    await line.say(
        triple("Ana", "ENJOYS", "tea"), triple("Ana", "ADORES", "tea") | {"fact": "Ana enjoys tea"}
    )
    assert sorted(f.relation for f in await facts_of(line, "Ana")) == ["ADORES", "ENJOYS"]
