"""Symmetric relations: a pair excludes what shares an end with it, and nothing else."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.timeline.evidence import Evidence
from pipeline.timeline.pairs import pair_timelines
from pipeline.timeline.slot import timeline
from tests.unit.timeline.test_slot import JAN, said


def pair(ends: str, start: int | None, end: int | None = None, **more: bool | int) -> Evidence:
    item = said(ends[1], start, end, **more)  # type: ignore[arg-type]
    return item.model_copy(update={"subject": ends[0], "symmetric": True, "id": ends[0] + item.id})


def spans(items: list[Evidence]) -> dict[str, list[tuple[int | None, int | None]]]:
    def n(moment: datetime | None) -> int | None:
        return None if moment is None else (moment - JAN).days // 30

    return {
        "".join(ends): [(n(s.valid_at), n(s.invalid_at)) for s in segments]
        for ends, segments in sorted(pair_timelines(items).items())
    }


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        pytest.param(
            [pair("ab", 1), pair("cd", 2)], {"ab": [(1, None)], "cd": [(2, None)]}, id="no shared end"
        ),
        pytest.param([pair("ab", 1), pair("ac", 4)], {"ab": [(1, 4)], "ac": [(4, None)]}, id="the first end"),
        pytest.param(
            [pair("ab", 1), pair("bc", 4)], {"ab": [(1, 4)], "bc": [(4, None)]}, id="the second end"
        ),
        pytest.param(
            [pair("ab", 1), pair("bc", 4), pair("ab", 6)],
            {"ab": [(1, 4), (6, None)], "bc": [(4, 6)]},
            id="together again",
        ),
        pytest.param(
            [pair("ab", 1), pair("bc", 4), pair("cd", 6)],
            {"ab": [(1, 4)], "bc": [(4, 6)], "cd": [(6, None)]},
            id="a chain re-opens nothing",
        ),
        pytest.param(
            [pair("ab", 3, seq=1), pair("bc", 3, seq=2)],
            {"ab": [], "bc": [(3, None)]},
            id="the newer of one start",
        ),
        pytest.param(
            [pair("ab", 1, one=False), pair("ac", 4, one=False)],
            {"ab": [(1, None)], "ac": [(4, None)]},
            id="many friends",
        ),
        pytest.param([pair("ab", 1), pair("ab", None, 5, closes=True)], {"ab": [(1, 5)]}, id="closed"),
    ],
)
def test_examples(items: list[Evidence], expected: dict[str, list[tuple[int | None, int | None]]]) -> None:
    assert spans(items) == expected
    assert spans(items[::-1]) == expected


@st.composite
def webs(draw: st.DrawFn) -> list[Evidence]:
    pairs = ["".join(p) for p in combinations("abcd", 2)]
    return [
        pair(
            draw(st.sampled_from(pairs)),
            draw(st.integers(0, 6)),
            draw(st.sampled_from([None, None, 3, 8])),
            ref=draw(st.integers(0, 8)),
            seq=i,
            one=draw(st.sampled_from([True, True, True, False])),
            closes=draw(st.sampled_from([False, False, False, True])),
        )
        for i in range(draw(st.integers(0, 8)))
    ]


@settings(max_examples=300, deadline=None)
@given(webs(), st.randoms(use_true_random=False))
def test_any_order_gives_the_same(items: list[Evidence], random: object) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert pair_timelines(shuffled + items) == pair_timelines(items)


@settings(max_examples=300, deadline=None)
@given(webs())
def test_nobody_has_two_partners_at_one_time(items: list[Evidence]) -> None:
    exclusive = {(e.subject, e.object) for e in items if e.cardinality == "one" and e.kind == "asserts"}
    found = [(ends, s) for ends, all_of in pair_timelines(items).items() if ends in exclusive for s in all_of]
    far = timedelta(days=99999)
    for (ends, a), (others, b) in combinations(found, 2):
        if set(ends) & set(others):
            start = max(a.valid_at or JAN - far, b.valid_at or JAN - far)
            assert start >= min(a.invalid_at or JAN + far, b.invalid_at or JAN + far)


@settings(max_examples=300, deadline=None)
@given(webs())
def test_pairs_of_one_person_are_a_slot(items: list[Evidence]) -> None:
    of_a = [e for e in items if e.subject == "a"]
    by_pair = [s for segments in pair_timelines(of_a).values() for s in segments]
    assert sorted(map(repr, by_pair)) == sorted(map(repr, timeline(of_a)))
