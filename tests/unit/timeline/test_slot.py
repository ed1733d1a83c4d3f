"""The timeline of a slot: examples that people would give, then the laws that hold for any evidence."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.slot import Segment, timeline

JAN = datetime(2024, 1, 1, tzinfo=UTC)


def month(n: int | None) -> datetime | None:
    return None if n is None else JAN + timedelta(days=30 * n)


def said(
    value: str,
    start: int | None,
    end: int | None = None,
    *,
    ref: int | None = None,
    seq: int = 0,
    one: bool = True,
    closes: bool = False,
    rule: str = "statement",
) -> Evidence:
    reference = ref if ref is not None else (start if start is not None else (end or 0))
    return Evidence(
        id=f"{value}/{start}/{end}/{reference}/{seq}/{one}/{closes}",
        episode_id=f"e{reference}-{seq}",
        subject="s",
        relation="R",
        object=value,
        kind=StatementKind.closes if closes else StatementKind.asserts,
        cardinality=Cardinality.one if one else Cardinality.many,
        valid_at=month(start),
        invalid_at=month(end),
        reference_time=month(reference),
        sequence=seq,
        rule=rule,
        recorded_at=JAN,
    )


def shape(segments: list[Segment]) -> list[tuple[str, int | None, int | None]]:
    def n(moment: datetime | None) -> int | None:
        return None if moment is None else (moment - JAN).days // 30

    return [(s.object, n(s.valid_at), n(s.invalid_at)) for s in segments]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        pytest.param([said("A", 1), said("B", 4)], [("A", 1, 4), ("B", 4, None)], id="a later value closes"),
        pytest.param(
            [said("A", 1), said("B", 4), said("A", 6)],
            [("A", 1, 4), ("B", 4, 6), ("A", 6, None)],
            id="a value that returns is a new segment",
        ),
        pytest.param([said("A", 1), said("A", 6)], [("A", 1, None)], id="said again while it holds"),
        pytest.param(
            [said("A", 1, 6), said("B", 12)], [("A", 1, 6), ("B", 12, None)], id="a stated end leaves a gap"
        ),
        pytest.param(
            [said("A", 5), said("B", 1, ref=9)], [("B", 1, 5), ("A", 5, None)], id="late and earlier"
        ),
        pytest.param(
            [said("A", 5, seq=1), said("B", 5, seq=2)], [("B", 5, None)], id="same start: the newer stands"
        ),
        pytest.param(
            [said("A", 5, ref=9), said("B", 5, ref=6)],
            [("A", 5, None)],
            id="same start: newer by reference time",
        ),
        pytest.param(
            [said("A", 1, one=False), said("B", 4, one=False)],
            [("A", 1, None), ("B", 4, None)],
            id="many values stay",
        ),
        pytest.param(
            [said("A", 2), said("A", 2, 11, ref=11)], [("A", 2, 11)], id="said again with an end closes it"
        ),
        pytest.param(
            [said("A", 1, 3, ref=1), said("A", 6)],
            [("A", 1, 3), ("A", 6, None)],
            id="said again after its end is new",
        ),
        pytest.param(
            [said("A", 1, 6, ref=0), said("A", 2, ref=2)], [("A", 1, 6)], id="an echo inside keeps the end"
        ),
        pytest.param([said("A", 1, 6), said("A", 2, ref=9)], [("A", 1, None)], id="still true after its end"),
        pytest.param([said("A", 1, 3), said("A", 3)], [("A", 1, None)], id="touching statements join"),
        pytest.param([said("A", 1), said("A", None, 5, closes=True)], [("A", 1, 5)], id="closing evidence"),
        pytest.param(
            [said("A", 1, ref=7), said("A", None, 5, closes=True)],
            [("A", 1, None)],
            id="an older closing never ends a newer statement",
        ),
        pytest.param(
            [said("A", 3), said("A", None, 3, closes=True, seq=1)], [], id="closed at its very start"
        ),
        pytest.param([said("A", None, 5)], [("A", None, 5)], id="unknown start"),
        pytest.param([said("A", 2), said("A", None, 5, ref=5)], [("A", 2, 5)], id="a known start is kept"),
        pytest.param([said("A", 5, 3)], [], id="an end before the start says nothing"),
        pytest.param(
            [said("A", 1), said("B", 3, one=False), said("C", 5)],
            [("A", 1, 5), ("B", 3, None), ("C", 5, None)],
            id="an additive value neither closes nor is closed",
        ),
    ],
)
def test_examples(evidence: list[Evidence], expected: list[tuple[str, int | None, int | None]]) -> None:
    assert shape(timeline(evidence)) == expected
    assert shape(timeline(reversed(evidence))) == expected


def test_each_end_says_who_gave_it_and_by_which_rule() -> None:
    judged = said("C", None, 9, closes=True, rule="judge")
    segments = timeline([said("A", 1), said("B", 4, 6, ref=4), said("C", 7), judged])
    assert [(s.object, s.closed_by, s.rule) for s in segments] == [
        ("A", "e4-0", "superseded"),
        ("B", "e4-0", "stated"),
        ("C", judged.episode_id, "judge"),
    ]


months = st.one_of(st.none(), st.integers(0, 12))


@st.composite
def evidences(draw: st.DrawFn) -> list[Evidence]:
    count = draw(st.integers(0, 9))
    return [
        said(
            draw(st.sampled_from("ABC")),
            draw(months),
            draw(months),
            ref=draw(st.integers(0, 12)),
            seq=i,
            one=draw(st.sampled_from([True, True, True, False])),
            closes=draw(st.sampled_from([False, False, False, True])),
        )
        for i in range(count)
    ]


@settings(max_examples=400)
@given(evidences(), st.randoms(use_true_random=False))
def test_any_arrival_order_gives_the_same_timeline(evidence: list[Evidence], random: object) -> None:
    shuffled = list(evidence)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert timeline(shuffled) == timeline(evidence)


@settings(max_examples=400)
@given(evidences())
def test_never_two_values_of_one_slot_at_the_same_time(evidence: list[Evidence]) -> None:
    exclusive = {
        e.object for e in evidence if e.cardinality is Cardinality.one and e.kind is StatementKind.asserts
    }
    segments = [s for s in timeline(evidence) if s.object in exclusive]
    for i, a in enumerate(segments):
        for b in segments[i + 1 :]:
            assert not _overlap(a, b), (shape([a]), shape([b]))


@settings(max_examples=400)
@given(evidences())
def test_segments_are_never_empty_inverted_or_overlapping_their_own_value(evidence: list[Evidence]) -> None:
    segments = timeline(evidence)
    for segment in segments:
        assert segment.support
        if segment.valid_at and segment.invalid_at:
            assert segment.valid_at < segment.invalid_at
    for i, a in enumerate(segments):
        assert not any(a.object == b.object and _overlap(a, b) for b in segments[i + 1 :])


@settings(max_examples=400)
@given(evidences())
def test_repeats_change_nothing(evidence: list[Evidence]) -> None:
    assert timeline(evidence + evidence) == timeline(evidence)


@settings(max_examples=400)
@given(evidences())
def test_the_newest_start_of_one_slots_is_what_stands_last(evidence: list[Evidence]) -> None:
    asserts = [e for e in evidence if e.kind is StatementKind.asserts and e.valid_at is not None]
    asserts = [e for e in asserts if e.invalid_at is None or e.invalid_at > e.valid_at]
    if not asserts or any(e.cardinality is Cardinality.many for e in evidence):
        return
    if any(e.kind is StatementKind.closes for e in evidence):
        return
    last = max(asserts, key=lambda e: (e.valid_at, e.order))
    standing = max(timeline(evidence), key=lambda s: s.valid_at or JAN - timedelta(days=9999))
    assert standing.object == last.object


def _overlap(a: Segment, b: Segment) -> bool:
    early, late = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    return max(a.valid_at or early, b.valid_at or early) < min(a.invalid_at or late, b.invalid_at or late)
