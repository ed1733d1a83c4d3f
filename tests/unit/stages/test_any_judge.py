"""Whatever a judge of facts answers, structure holds: laws over random statements and random verdicts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import Random
from typing import cast

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.port import GraphStore
from pipeline.model.episode import EpisodeRef, Usage
from pipeline.model.extraction import Cardinality, ResolvedEpisode, ResolvedMention, Statement, StatementKind
from pipeline.model.fact import Fact
from pipeline.observer import SilentObserver
from pipeline.stages.judging import Comparison, FactVerdict
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.pairs import pair_timelines
from tests.unit.stages.memory_facts import MemoryFacts

JAN = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = "abcd"
RELATIONS = ("LIVES_IN", "LIKES", "DISLIKES", "BOUGHT", "MARRIED_TO", "EMPLOYS", "WORKS_AT")
days = st.one_of(st.none(), st.integers(0, 9))


@dataclass
class AnyJudge:
    """Answers at random: places in range and out of it, and questions that nobody asked."""

    chance: Random

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        asked = [q.index for q in questions] + [self.chance.randrange(9)]
        return {
            i: FactVerdict(self._place(), (self._place() or 0, self._place() or 1)) for i in asked
        }, Usage()

    def _place(self) -> int | None:
        return self.chance.choice([None, -1, 0, 0, 1, 2, 7])


class Silent:
    """Implements `FactJudge` and finds nothing."""

    async def compare(self, questions: Sequence[Comparison]) -> tuple[Mapping[int, FactVerdict], Usage]:
        return {}, Usage()


def day(number: int | None) -> datetime | None:
    return None if number is None else JAN + timedelta(days=number)


@st.composite
def statements(draw: st.DrawFn) -> Statement:
    start, end = draw(days), draw(st.one_of(st.none(), days))
    return Statement(
        subject=draw(st.integers(0, 3)),
        relation=draw(st.sampled_from(RELATIONS)),
        object=draw(st.integers(0, 3)),
        fact=draw(st.sampled_from(["x", "y", "z z"])),
        kind=draw(st.sampled_from([StatementKind.asserts] * 4 + [StatementKind.closes])),
        valid_at=day(start),
        invalid_at=day(end) if start is None or (end or 0) > start else None,
        cardinality=draw(st.sampled_from(Cardinality)),
        verbatim=draw(st.sampled_from([False, False, True])),
    )


episodes = st.lists(st.tuples(st.integers(0, 9), st.lists(statements(), min_size=1, max_size=3)), max_size=7)
Told = list[tuple[int, list[Statement]]]


def event(number: int, at: int, said: Sequence[Statement]) -> ResolvedEpisode:
    return ResolvedEpisode(
        episode=EpisodeRef(id=f"e{number}", group_id="g", reference_time=day(at), sequence=number),
        entities=tuple(ResolvedMention(entity_id=n, name=n.upper()) for n in NAMES),
        statements=tuple(said),
    )


def run(told: Told, judge: AnyJudge | Silent | None) -> MemoryFacts:
    store = MemoryFacts()
    moment = [JAN + timedelta(days=100)]
    stage = ResolveFactsStage(
        cast(GraphStore, store), HashingEmbedder(), lambda: moment[0], SilentObserver(), judge
    )

    async def all_of_it() -> None:
        for number, (at, said) in enumerate(told):
            moment[0] += timedelta(seconds=1)
            await stage.run(event(number, at, said))

    asyncio.run(all_of_it())
    return store


def supporting(store: MemoryFacts, fact: Fact) -> list[Evidence]:
    return [store.evidence[s.evidence_id] for s in fact.support if s.known_to is None]


@settings(max_examples=150, deadline=None)
@given(episodes, st.integers())
def test_a_closure_never_crosses_subjects_or_time_and_never_ends_what_is_additive(
    told: Told, seed: int
) -> None:
    store = run(told, AnyJudge(Random(seed)))
    for closing in (e for e in store.evidence.values() if e.rule == "judge"):
        own = [
            e for e in store.evidence.values() if e.episode_id == closing.episode_id and e.rule == "statement"
        ]
        (because,) = [e for e in own if e.index == closing.index]
        owners = {because.subject, because.object} if because.symmetric else {because.subject}
        ended = {closing.subject, closing.object} if closing.symmetric else {closing.subject}
        assert owners & ended
        assert closing.order == because.order
        earlier = [
            e
            for e in store.evidence.values()
            if (e.subject, e.relation, e.object) == (closing.subject, closing.relation, closing.object)
            and e.recorded_at < closing.recorded_at
            and e.rule == "statement"
        ]
        assert any(e.order < closing.order for e in earlier)
    for fact in store.facts.values():
        last = fact.beliefs[-1]
        if last.closing_rule == "judge":
            closers = [
                e for e in store.evidence.values() if e.rule == "judge" and e.episode_id == last.closed_by
            ]
            assert closers
            # What joined the fact since may be additive; the closure found none that was.
            before = [e for e in supporting(store, fact) if e.recorded_at < closers[0].recorded_at]
            assert not any(e.additive for e in before)


@settings(max_examples=150, deadline=None)
@given(episodes, st.integers())
def test_slots_hold_one_value_and_intervals_are_never_inverted(told: Told, seed: int) -> None:
    store = run(told, AnyJudge(Random(seed)))
    held = [f for f in store.facts.values() if f.beliefs[-1].holds]
    for fact in held:
        assert _start(fact) < _end(fact)
    ones = [f for f in held if any(e.cardinality is Cardinality.one for e in supporting(store, f))]
    for i, a in enumerate(ones):
        for b in ones[i + 1 :]:
            apart = a.target.id != b.target.id or a.source.id != b.source.id
            if a.relation != b.relation or a.symmetric != b.symmetric or not apart:
                continue
            shared = {a.source.id, a.target.id} & {b.source.id, b.target.id}
            if a.source.id == b.source.id if not a.symmetric else shared:
                assert max(_start(a), _start(b)) >= min(_end(a), _end(b)), (a, b)


@settings(max_examples=100, deadline=None)
@given(episodes, st.integers())
def test_what_a_judge_leaves_is_what_its_evidence_says(told: Told, seed: int) -> None:
    """The stage works from a part of the graph at a time; all of it at once gives the same."""
    store = run(told, AnyJudge(Random(seed)))
    for relation in {e.relation for e in store.evidence.values() if e.symmetric}:
        triplets = {
            (e.subject, e.object) for e in store.evidence.values() if e.symmetric and e.relation == relation
        }
        web = [
            e for e in store.evidence.values() if e.relation == relation and (e.subject, e.object) in triplets
        ]
        for (subject, value), segments in pair_timelines(web).items():
            held = [
                (f.beliefs[-1].valid_at, f.beliefs[-1].invalid_at)
                for f in store.facts.values()
                if (f.source.id, f.relation, f.target.id) == (subject, relation, value)
                and f.beliefs[-1].holds
            ]
            assert sorted(map(str, held)) == sorted(str((s.valid_at, s.invalid_at)) for s in segments)


@settings(max_examples=60, deadline=None)
@given(episodes)
def test_a_judge_that_finds_nothing_is_no_judge(told: Told) -> None:
    asked, unasked = run(told, Silent()), run(told, None)
    assert asked.facts == unasked.facts
    assert asked.evidence == unasked.evidence


def _start(fact: Fact) -> datetime:
    return fact.beliefs[-1].valid_at or datetime.min.replace(tzinfo=UTC)


def _end(fact: Fact) -> datetime:
    return fact.beliefs[-1].invalid_at or datetime.max.replace(tzinfo=UTC)
