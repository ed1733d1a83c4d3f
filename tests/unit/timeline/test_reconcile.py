"""From timelines to facts: what is believed at any moment, and what is told about it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.changes import Change, FactChange
from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.model.fact import Fact, FactView, view
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, reconcile
from pipeline.timeline.slot import timeline

START = datetime(2024, 1, 1, tzinfo=UTC)
NAMES = {"s": "Ana", "A": "Acme", "B": "Globex", "C": "Initech"}
months = st.one_of(st.none(), st.integers(0, 12))


def day(n: int) -> datetime:
    return START + timedelta(days=n)


@st.composite
def histories(draw: st.DrawFn) -> list[Evidence]:
    """Evidence in its order of arrival: one piece an episode, learned a day after the other."""
    return [
        Evidence(
            id=f"v{n}",
            episode_id=f"e{n}",
            subject="s",
            relation="R",
            object=draw(st.sampled_from("ABC")),
            kind=draw(st.sampled_from([StatementKind.asserts] * 3 + [StatementKind.closes])),
            cardinality=draw(st.sampled_from([Cardinality.one] * 3 + [Cardinality.many])),
            fact=f"sentence {n}",
            valid_at=None if (start := draw(months)) is None else day(start),
            invalid_at=None if (end := draw(months)) is None else day(end),
            reference_time=day(draw(st.integers(0, 12))),
            sequence=n,
            recorded_at=day(100 + n),
        )
        for n in range(draw(st.integers(0, 8)))
    ]


class Graph:
    """Facts as a store would keep them, fed one episode at a time."""

    def __init__(self) -> None:
        self.evidence: list[Evidence] = []
        self.facts: dict[str, Fact] = {}
        self.changes: list[FactChange] = []

    def learn(self, item: Evidence) -> None:
        self.evidence.append(item)
        occasion = Occasion("g", item.episode_id, item.recorded_at)
        result = reconcile(self.evidence, self.facts.values(), NAMES, occasion)
        self.facts |= {fact.id: fact for fact in result.facts}
        self.changes += result.changes

    def at(self, known_at: datetime | None = None) -> list[FactView]:
        views = (view(fact, known_at) for fact in self.facts.values())
        return sorted((v for v in views if v is not None), key=lambda v: v.id)


@settings(max_examples=300, deadline=None)
@given(histories())
def test_what_was_known_then_is_what_was_answered_then(history: list[Evidence]) -> None:
    graph = Graph()
    answers: dict[datetime, list[FactView]] = {}
    for item in history:
        graph.learn(item)
        answers[item.recorded_at] = graph.at()
    for moment, answered in answers.items():
        then = graph.at(moment)
        # Wording and attributes are not bi-temporal: they follow the evidence that is known today.
        assert [_times(v) for v in then] == [_times(v) for v in answered]


@settings(max_examples=300, deadline=None)
@given(histories())
def test_the_facts_that_hold_are_the_segments_of_the_timeline(history: list[Evidence]) -> None:
    graph = Graph()
    for item in history:
        graph.learn(item)
    expected = sorted((s.object, str(s.valid_at), str(s.invalid_at)) for s in timeline(history))
    assert sorted((v.target.id, str(v.valid_at), str(v.invalid_at)) for v in graph.at()) == expected


@settings(max_examples=300, deadline=None)
@given(histories())
def test_folding_the_changes_gives_exactly_the_current_facts(history: list[Evidence]) -> None:
    graph = Graph()
    for item in history:
        graph.learn(item)
    folded: dict[str, FactView] = {}
    for change in graph.changes:
        if change.change is Change.retracted:
            del folded[change.fact.id]
        else:
            folded[change.fact.id] = change.fact
    assert sorted(folded.values(), key=lambda v: v.id) == graph.at()


@settings(max_examples=300, deadline=None)
@given(histories())
def test_learning_the_same_evidence_again_changes_nothing(history: list[Evidence]) -> None:
    graph = Graph()
    for item in history:
        graph.learn(item)
    before = dict(graph.facts)
    again = reconcile(graph.evidence, graph.facts.values(), NAMES, Occasion("g", "again", day(999)))
    assert not again.changes
    assert not again.facts
    assert graph.facts == before


def test_a_superseded_fact_says_which_episode_closed_it_and_how() -> None:
    graph = Graph()
    for n, value in enumerate("AB"):
        graph.learn(
            Evidence(
                id=f"v{n}",
                episode_id=f"e{n}",
                subject="s",
                relation="WORKS_AT",
                object=value,
                cardinality=Cardinality.one,
                valid_at=day(n),
                reference_time=day(n),
                sequence=n,
                recorded_at=day(100 + n),
            )
        )
    told = [(c.change, c.fact.target.id, c.closed_by, c.rule, c.revision) for c in graph.changes]
    assert told == [
        (Change.asserted, "A", None, None, 1),
        (Change.invalidated, "A", "e1", "superseded", 2),
        (Change.asserted, "B", None, None, 1),
    ]


def _times(shown: FactView) -> tuple[object, ...]:
    return (shown.id, shown.valid_at, shown.invalid_at, shown.created_at, shown.expired_at, shown.episodes)


def test_a_pair_is_left_alone_when_an_end_is_only_known_from_another_relation() -> None:
    def said(name: str, subject: str, relation: str, value: str, at: int, **more: Any) -> Evidence:
        given = {
            "id": name,
            "episode_id": name,
            "reference_time": day(at),
            "sequence": at,
            "recorded_at": day(at),
        }
        one = {"subject": subject, "relation": relation, "object": value, "cardinality": Cardinality.one}
        return Evidence(**{**given, **one, **more})

    pair = said("v1", "a", "MARRIED_TO", "b", 1, symmetric=True)
    other = said("v2", "b", "MARRIED_TO", "c", 2, symmetric=True)
    married = reconcile([pair, other], (), NAMES, Occasion("g", "e", day(3))).facts
    assert {(f.source.id, f.target.id) for f in married if f.beliefs[-1].holds} == {("b", "c")}
    # Of `b` there is only what it likes, so whether the pair (a, b) stands cannot be told.
    likes = said("v3", "b", "LIKES", "tea", 3, cardinality=Cardinality.many)
    known = {("MARRIED_TO", "a"), ("LIKES", "b"), ("LIKES", "tea")}
    again = reconcile([pair, likes], (), NAMES, Occasion("g", "e", day(4)), ends=known)
    assert [f.relation for f in again.facts] == ["LIKES"]


def test_when_two_facts_become_one_again_it_is_the_older() -> None:
    def said(name: str, value: str, start: int, learned: int) -> Evidence:
        return Evidence(
            id=name,
            episode_id=name,
            subject="s",
            relation="LIVES_IN",
            object=value,
            cardinality=Cardinality.one,
            valid_at=day(start),
            reference_time=day(learned),
            sequence=learned,
            recorded_at=day(learned),
        )

    late, early, between = said("v1", "A", 9, 10), said("v2", "A", 1, 11), said("v3", "B", 5, 12)
    (first,) = reconcile([late], (), NAMES, Occasion("g", "e1", day(10))).facts
    parted = reconcile([late, early, between], [first], NAMES, Occasion("g", "e2", day(12)))
    facts = {f.id: f for f in (first, *parted.facts)}
    assert len([f for f in facts.values() if f.target.id == "A"]) == 2
    joined = reconcile([late, early], facts.values(), NAMES, Occasion("g", "e3", day(13))).facts
    (stands,) = [f for f in joined if f.target.id == "A" and f.beliefs[-1].holds]
    assert stands.id == first.id
