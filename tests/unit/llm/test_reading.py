"""The table of everything that models do to JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pipeline.extraction.model.answer import Found
from pipeline.llm.entity_judge import Verdicts
from pipeline.llm.json_text import find_json
from pipeline.llm.reading import Unreadable, joined, read_answer

ANA: dict[str, Any] = {"name": "Ana", "type": "Person", "summary": None, "attributes": []}
FACT = {
    "subject": "Ana",
    "relation": "WORKS_AT",
    "object": "Acme",
    "fact": "Ana works at Acme",
    "when": None,
    "valid_at": None,
    "invalid_at": None,
    "status": "holds",
    "cardinality": "one",
}
GOOD = {"entities": [ANA, {"name": "Acme"}], "facts": [FACT]}
TEXT = json.dumps(GOOD)
BROKEN_QUOTES = '{"entities": [{"name": "Ana"}], "facts": [{"subject": "Ana", "relation": "SAID", "fact": "Ana said "hi" to all"}]}'

SAME = {
    "as asked": TEXT,
    "code fence": f"```json\n{TEXT}\n```",
    "fence without a language": f"```\n{TEXT}\n```",
    "prose around": f"Sure! Here is the JSON you asked for:\n\n{TEXT}\n\nLet me know if [anything] is unclear.",
    "thoughts": f"<think>The user wants {{entities}}. Maybe {{'name': 'Bob'}}?</think>\n{TEXT}",
    "thoughts without a beginning": f"I think {{'a': 1}} …</think>{TEXT}",
    "byte order mark": "\ufeff" + TEXT,
    "trailing commas": TEXT.replace("}]", "},]").replace("]}", "],}"),
    "single quotes, Python's constants": repr(GOOD),
    "comments": TEXT.replace('"facts"', '// the facts\n /* all */ "facts"'),
    "unquoted keys": TEXT.replace('"entities"', "entities").replace('"facts"', "facts"),
    "missing comma": TEXT.replace(', "facts"', ' "facts"'),
    "wrapped": json.dumps({"result": GOOD}),
    "wrapped in a list": json.dumps([GOOD]),
    "renamed keys": json.dumps(
        {
            "Nodes": [{"entityName": "Ana", "entity_type": "Person"}, {"entity": "Acme"}],
            "edges": [
                {
                    "source_entity_name": "Ana",
                    "relation-type": "WORKS_AT",
                    "Target": "Acme",
                    "Sentence": "Ana works at Acme",
                    "cardinality": "ONE",
                }
            ],
        }
    ),
    "objects for names": json.dumps(
        {"entities": GOOD["entities"], "facts": [{**FACT, "subject": {"name": "Ana"}, "object": ["Acme"]}]}
    ),
    "JSON in strings": json.dumps({"entities": json.dumps(GOOD["entities"]), "facts": [json.dumps(FACT)]}),
    "one object for a list": json.dumps({"entities": [ANA, "Acme"], "facts": FACT}),
    "maps for lists": json.dumps({"entities": {"Ana": {"type": "Person"}, "Acme": {}}, "facts": [FACT]}),
    "'null' in words": json.dumps(
        {"entities": [ANA, {"name": "Acme", "type": "None"}], "facts": [{**FACT, "when": "N/A"}]}
    ),
    "a wrong optional field": json.dumps(
        {"entities": [ANA, {"name": "Acme"}], "facts": [{**FACT, "status": "unsure"}]}
    ),
    "bare list, mixed": json.dumps([ANA, {"name": "Acme"}, FACT]),
    "unknown fields": json.dumps(
        {"entities": [{**ANA, "confidence": 0.9}, {"name": "Acme"}], "facts": [FACT], "note": "x"}
    ),
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_the_same_answer_in_every_shape(text: str) -> None:
    reading = read_answer(text, Found)
    assert reading.complete
    assert [(e.name, e.type) for e in reading.answer.entities] == [("Ana", "Person"), ("Acme", None)]
    (fact,) = reading.answer.facts
    assert (fact.subject, fact.relation, fact.object, fact.fact) == (
        "Ana",
        "WORKS_AT",
        "Acme",
        "Ana works at Acme",
    )
    assert (fact.cardinality, fact.status, fact.when) == ("one", "holds", None)


PARTLY = {
    "strings for objects": ('{"entities": ["Ana", "Acme"], "facts": []}', ["Ana", "Acme"]),
    "a bare list of names' objects": ('[{"name": "Ana"}, {"name": "Acme"}]', ["Ana", "Acme"]),
    "a single object": ('{"name": "Ana", "type": "Person"}', ["Ana"]),
    "numbers for names": ('{"entities": [{"name": 1984}]}', ["1984"]),
    "nothing found": ('{"entities": [], "facts": []}', []),
    "an empty object": ("{}", []),
    "null for a list": ('{"entities": null, "facts": null}', []),
    "an item that is nothing": (
        '{"entities": [{"name": "Ana"}, null, 7.5, {"age": 3}, true]}',
        ["Ana", "7.5"],
    ),
    "a name that runs away": (json.dumps({"entities": [{"name": "Ana"}, {"name": "Acme" * 500}]}), ["Ana"]),
    "a raw line break in a string": ('{"entities": [{"name": "Ana\nLima"}]}', ["Ana\nLima"]),
    "unescaped quotes": (BROKEN_QUOTES, ["Ana"]),
}


@pytest.mark.parametrize(("text", "names"), PARTLY.values(), ids=PARTLY)
def test_what_can_be_read_is_kept(text: str, names: list[str]) -> None:
    reading = read_answer(text, Found)
    assert [e.name for e in reading.answer.entities] == names
    assert reading.complete


def test_quotes_inside_a_sentence_belong_to_it() -> None:
    assert read_answer(BROKEN_QUOTES, Found).answer.facts[0].fact == 'Ana said "hi" to all'


@pytest.mark.parametrize("length", range(len(TEXT)))
def test_an_answer_cut_anywhere_keeps_its_complete_part(length: int) -> None:
    try:
        reading = read_answer(TEXT[:length], Found)
    except Unreadable:
        assert length < TEXT.index("Ana") + 80
        return
    assert not reading.complete
    assert reading.answer.entities in (
        [],
        read_answer(TEXT, Found).answer.entities[:1],
        read_answer(TEXT, Found).answer.entities,
    )
    assert len(reading.answer.facts) <= 1
    if reading.answer.facts:
        assert reading.answer.facts == read_answer(TEXT, Found).answer.facts


def test_five_hundred_repeats_are_one_name() -> None:
    reading = read_answer(json.dumps({"entities": [{"name": "Ana"}] * 500}), Found)
    assert [e.name for e in reading.answer.entities] == ["Ana"]
    assert reading.repeated == 499


def test_repeats_that_break_off_are_one_name_and_incomplete() -> None:
    text = '{"entities": [' + ", ".join(['{"name": "Ana"}'] * 500) + ', {"nam'
    reading = read_answer(text, Found)
    assert [e.name for e in reading.answer.entities] == ["Ana"]
    assert not reading.complete


def test_attributes_as_a_map() -> None:
    text = '{"entities": [{"name": "Ana", "attributes": {"age": 41, "email": "a@b.org", "vip": true}}]}'
    (entity,) = read_answer(text, Found).answer.entities
    assert {a.name: a.value for a in entity.attributes} == {"age": 41, "email": "a@b.org", "vip": True}


def test_facts_as_bare_triples() -> None:
    (fact,) = read_answer('{"facts": [["Ana", "WORKS_AT", "Acme"]]}', Found).answer.facts
    assert (fact.subject, fact.relation, fact.object) == ("Ana", "WORKS_AT", "Acme")


UNREADABLE = {
    "": "empty",
    "   ": "empty",
    "I cannot help with that.": "no JSON",
    "<think>hmm, entities…": "thoughts only",
    '"Ana"': "no JSON",
    '{"error": "overloaded"}': "none of the fields",
    '{"weather": {"city": "Lima"}}': "none of the fields",
    '{"entities": [{"age": 3}, {"age": 4}]}': "none of its items",
    '{"entities": [{"na': "cut off",
    "[" * 5000: "no JSON",
}


@pytest.mark.parametrize(("text", "reason"), UNREADABLE.items(), ids=range(len(UNREADABLE)))
def test_what_cannot_be_read_says_why(text: str, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        read_answer(text, Found)


def test_tags_inside_a_sentence_are_left_alone() -> None:
    text = json.dumps({"facts": [{**FACT, "fact": "Ana wrote <think>no</think> on the wall"}]})
    assert read_answer(text, Found).answer.facts[0].fact == "Ana wrote <think>no</think> on the wall"


def test_verdicts_with_other_keys_and_null_as_a_word() -> None:
    text = '[{"index": 0, "why": "same", "match": "2"}, {"id": 1, "match": "null"}, {"question": "x"}]'
    reading = read_answer(text, Verdicts)
    assert [(v.question, v.candidate) for v in reading.answer.verdicts] == [(0, 2), (1, None)]
    assert reading.dropped == 1


def test_parts_are_joined_without_repeats() -> None:
    first = read_answer('{"entities": ["Ana", "Acme"]}', Found).answer
    second = read_answer('{"entities": ["Acme", "Lima"], "facts": [["Ana", "LIKES", "Lima"]]}', Found).answer
    both = joined(first, second)
    assert [e.name for e in both.entities] == ["Ana", "Acme", "Lima"]
    assert len(both.facts) == 1


def test_the_longest_json_wins() -> None:
    assert find_json('As in [1]: {"a": [1, 2, 3]} and {"b": 2}').value == {"a": [1, 2, 3]}


def test_escapes_and_numbers_in_broken_json() -> None:
    assert find_json(r"{'a': 'x\u00e9\n\'y', b: -1.5e2, c: .5, d: 12,}").value == {
        "a": "xé\n'y",
        "b": -150.0,
        "c": 0.5,
        "d": 12,
    }
