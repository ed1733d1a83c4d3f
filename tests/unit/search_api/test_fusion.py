"""Reciprocal rank fusion: worked examples and properties."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_api.retrieval.fusion import reciprocal_rank

KEYS = st.text("abcdef", min_size=1, max_size=2)
LISTS = st.lists(
    st.dictionaries(KEYS, st.floats(-1, 1), max_size=12).map(
        lambda scores: tuple(sorted(scores.items(), key=lambda pair: -pair[1]))
    ),
    min_size=1,
    max_size=4,
)


def test_two_lists_by_hand():
    fused = reciprocal_rank([(("a", 9.0), ("b", 4.0)), (("b", 0.9), ("c", 0.8))])
    assert [key for key, _ in fused] == ["b", "a", "c"]
    best = 2 / 61
    assert dict(fused) == pytest.approx(
        {"b": (1 / 62 + 1 / 61) / best, "a": 1 / 61 / best, "c": 1 / 62 / best}
    )


def test_first_in_every_list_scores_one():
    assert reciprocal_rank([(("a", 3.0),), (("a", 0.2),)]) == (("a", 1.0),)


def test_equal_scores_share_a_rank_and_are_ordered_by_key():
    assert reciprocal_rank([(("z", 1.0), ("a", 1.0), ("m", 0.5))]) == (
        ("a", 1.0),
        ("z", 1.0),
        ("m", pytest.approx(61 / 63)),
    )


def test_nothing_in_nothing_out():
    assert reciprocal_rank([]) == ()
    assert reciprocal_rank([(), ()]) == ()


@given(LISTS)
def test_everything_is_there_once_best_first_with_scores_up_to_one(lists):
    fused = reciprocal_rank(lists)
    assert sorted(key for key, _ in fused) == sorted({key for ranked in lists for key, _ in ranked})
    scores = [score for _, score in fused]
    assert scores == sorted(scores, reverse=True)
    assert all(0 < score <= 1 + 1e-12 for score in scores)


@given(LISTS, st.randoms())
def test_the_order_of_the_lists_and_of_equals_in_them_does_not_matter(lists, dice):
    shuffled = [tuple(dice.sample(ranked, len(ranked))) for ranked in dice.sample(lists, len(lists))]
    again = reciprocal_rank(shuffled)
    assert dict(again) == pytest.approx(dict(reciprocal_rank(lists)))


@given(LISTS)
def test_who_is_ahead_in_every_list_is_ahead(lists):
    fused = dict(reciprocal_rank(lists))
    for a in fused:
        for b in fused:
            if all(dict(ranked).get(a, -9) > dict(ranked).get(b, -9) for ranked in lists):
                assert fused[a] > fused[b]


@given(LISTS.filter(lambda lists: len(lists) == 1))
def test_one_list_keeps_its_order(lists):
    scores = dict(lists[0])
    order = [scores[key] for key, _ in reciprocal_rank(lists)]
    assert order == sorted(order, reverse=True)
