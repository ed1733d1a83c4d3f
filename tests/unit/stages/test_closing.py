"""What a judge of facts is asked, what its closures leave, and what structure forbids it."""

from __future__ import annotations

from dataclasses import replace

from pipeline.graph.fact_port import FactQuery, Triplet
from pipeline.model.changes import Change
from tests.unit.stages.conftest import Line, triple
from tests.unit.stages.reading import FactJudgeByNames, Said, facts_of, read, told

TEA = Said("Ana", "LIKES", "tea", "2020-01-01", sentence="Ana likes tea")
NO_TEA = Said("Ana", "CANNOT_STAND", "tea leaves", "2023-01-01", sentence="Ana cannot stand tea any more")


def judge(line: Line, *ended: str, same: tuple[str, ...] = ()) -> FactJudgeByNames:
    made = FactJudgeByNames(frozenset(ended), frozenset(same))
    line.facts = replace(line.facts, judge=made)
    return made


async def test_a_closure_is_evidence_with_its_episode_and_rule(line: Line) -> None:
    asked = judge(line, "tea").asked
    await read(line, TEA, at="2020-01-01", text="I like tea, says Ana.")
    ref = await read(line, NO_TEA, at="2023-01-02", text="Ana cannot stand it any more.")
    assert told(await facts_of(line, "Ana")) == [
        ("Ana", "LIKES", "tea", "2020-01-01", "2023-01-01"),
        ("Ana", "CANNOT_STAND", "tea leaves", "2023-01-01", None),
    ]
    (closed,) = [c for c in line.changes if c.change is Change.invalidated]
    assert (closed.closed_by, closed.rule, closed.episode_id) == (ref.id, "judge", ref.id)
    (question,) = asked
    assert question.statement.source == "Ana cannot stand it any more."
    assert [(c.sentence, c.source) for c in question.candidates] == [
        ("Ana likes tea", "I like tea, says Ana.")
    ]
    stored = await line.reader.episode("g", ref.id)
    assert stored is not None
    assert stored.usage.llm_calls == 1
    ana = next(e for e in stored.entities if e.name == "Ana")
    assert ana.summary == "Ana cannot stand tea any more."


async def test_without_a_start_the_statement_tells_from_when_it_was_made(line: Line) -> None:
    judge(line, "tea")
    await read(line, TEA, at="2020-01-01")
    await read(line, replace(NO_TEA, start=None), at="2023-06-01")
    assert ("Ana", "LIKES", "tea", "2020-01-01", "2023-06-01") in told(await facts_of(line, "Ana"))


async def test_without_a_judge_nothing_closes(line: Line) -> None:
    await read(line, TEA, at="2020-01-01")
    await read(line, NO_TEA, at="2023-01-01")
    assert [f.invalid_at for f in await facts_of(line, "Ana")] == [None, None]


async def test_triples_ask_nothing(line: Line) -> None:
    asked = judge(line, "tea").asked
    await read(line, TEA, at="2020-01-01")
    await line.say(triple("Ana", "CANNOT_STAND", "tea leaves", valid_at="2023-01-01"), at="2023-01-01")
    assert asked == []


async def test_what_was_stated_or_declared_additive_is_never_asked_about(line: Line) -> None:
    asked = judge(line, "tea", "bike").asked
    await line.say(triple("Ana", "LIKES_MOST", "tea", valid_at="2020-01-01"), at="2020-01-01")
    await read(line, Said("Ana", "BOUGHT", "bike", "2020-01-01"), at="2020-01-01")
    await read(line, NO_TEA, at="2023-01-01")
    assert asked == []
    assert [f.invalid_at for f in await facts_of(line, "Ana")] == [None, None, None]


async def test_another_subject_is_never_asked_about(line: Line) -> None:
    asked = judge(line, "tea").asked
    await read(line, Said("Ben", "LIKES", "tea", "2020-01-01"), at="2020-01-01")
    await read(line, Said("Ana", "HATES", "tea", "2023-01-01"), at="2023-01-01")
    assert asked == []


async def test_an_older_statement_never_closes_a_newer_one(line: Line) -> None:
    judge(line, "tea")
    await read(line, TEA, at="2024-01-01")
    await read(line, NO_TEA, at="2023-01-01")
    assert [f.invalid_at for f in await facts_of(line, "Ana")] == [None, None]


async def test_nor_one_that_was_confirmed_since(line: Line) -> None:
    await read(line, TEA, at="2020-01-01")
    await read(line, TEA, at="2024-01-01")
    judge(line, "tea")
    ref = await read(line, NO_TEA, at="2023-06-01")
    tea, _ = await facts_of(line, "Ana")
    assert tea.invalid_at is None
    # It leaves no evidence either, which might count once the confirmation is taken back.
    kept = Triplet(tea.source.id, tea.relation, tea.target.id, whole_slot=True)
    graph = await line.store.fact_graph(FactQuery(ref, (kept,), ()))
    assert {e.rule for e in graph.evidence} == {"statement"}


async def test_what_is_over_ends_nothing_that_stands(line: Line) -> None:
    asked = judge(line, "tea").asked
    await read(line, TEA, at="2020-01-01")
    await read(line, replace(NO_TEA, start=None, end="2022-01-01"), at="2023-01-01")
    assert asked == []


async def test_the_slot_decides_about_its_own_values(line: Line) -> None:
    asked = judge(line, "Lima").asked
    await read(line, Said("Ana", "LIVES_IN", "Lima", "2020-01-01", one=True), at="2020-01-01")
    await read(line, Said("Ana", "LIVES_IN", "Quito", "2023-01-01", one=True), at="2023-01-01")
    assert asked == []
    assert [c.rule for c in line.changes if c.change is Change.invalidated] == ["superseded"]


async def test_a_value_of_a_slot_may_be_ended_by_another_relation(line: Line) -> None:
    judge(line, "Acme")
    await read(line, Said("Ana", "WORKS_AT", "Acme", "2020-01-01", one=True), at="2020-01-01")
    await read(line, Said("Ana", "RETIRED_FROM", "work", "2023-01-01"), at="2023-01-01")
    assert ("Ana", "WORKS_AT", "Acme", "2020-01-01", "2023-01-01") in told(await facts_of(line, "Ana"))
    await read(line, Said("Ana", "WORKS_AT", "Acme", "2024-01-01", one=True), at="2024-01-01")
    assert ("Ana", "WORKS_AT", "Acme", "2024-01-01", None) in told(await facts_of(line, "Ana"))


async def test_both_ends_of_a_symmetric_fact_are_its_subjects(line: Line) -> None:
    judge(line, "Ana", "Ben")
    await read(line, Said("Ana", "MARRIED_TO", "Ben", "2015-01-01", one=True), at="2015-01-01")
    await read(line, Said("Ben", "DIVORCED", "Ana", "2020-01-01"), at="2020-01-01")
    spans = [f[3:] for f in told(await facts_of(line, "Ana")) if f[1] == "MARRIED_TO"]
    assert spans == [("2015-01-01", "2020-01-01")]


async def test_a_judge_may_find_a_repeat_under_another_name(line: Line) -> None:
    judge(line, same=("tea",))
    await read(line, Said("Ana", "ENJOYS", "tea", "2024-01-01"))
    await read(line, Said("Ana", "IS_FOND_OF", "tea", "2024-01-01"), at="2024-02-01")
    (fact,) = await facts_of(line, "Ana")
    assert (fact.relation, fact.episodes) == ("ENJOYS", ("e1", "e2"))
