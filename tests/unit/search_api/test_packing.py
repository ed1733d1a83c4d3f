"""Which lines a short text gets: the most value for its tokens, the best fact before all."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search_api.packing import MIN_WEIGHT, Offer, packed, values

OPENINGS = {"facts": 2.0, "entities": 3.0, "episodes": 3.0}


def spent(offers, chosen):
    sections = {offers[place].section for place in chosen}
    return sum(offers[place].weight for place in chosen) + sum(OPENINGS[section] for section in sections)


def test_a_long_line_of_little_value_does_not_push_out_short_better_ones():
    offers = [
        Offer("facts", 20, 1.0),
        Offer("facts", 60, 0.3),
        Offer("facts", 20, 0.2),
        Offer("entities", 20, 1.0),
        Offer("entities", 20, 0.5),
    ]
    assert packed(offers, OPENINGS, 69) == {0, 3, 4}
    assert packed(offers, OPENINGS, 85) == {0, 2, 3, 4}
    assert packed(offers, OPENINGS, 200) == {0, 1, 2, 3, 4}


def test_what_is_first_and_last_is_tried_in_its_order():
    offers = [
        Offer("facts", 50, 0.1),
        Offer("facts", 10, 1.0),
        Offer("episodes", 30, 1),
        Offer("episodes", 5, 1),
    ]
    assert packed(offers, OPENINGS, 55, first=[0], last=[2, 3]) == {0}
    assert packed(offers, OPENINGS, 55, last=[2, 3]) == {1, 2, 3}
    assert packed(offers, OPENINGS, 30, last=[2, 3]) == {1, 3}


def test_a_short_line_is_not_better_for_being_short():
    offers = [Offer("facts", MIN_WEIGHT, 0.5), Offer("facts", 1, 0.4)]
    assert packed(offers, OPENINGS, 2 + MIN_WEIGHT) == {0}


def test_an_addition_comes_with_what_it_is_added_to_or_not_at_all():
    offers = [Offer("facts", 100, 0.5), Offer("facts", 16, 0.25, after=0), Offer("facts", 20, 0.1)]
    assert packed(offers, OPENINGS, 40) == {2}
    assert packed(offers, OPENINGS, 102) == {0}
    assert packed(offers, OPENINGS, 118) == {0, 1}


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], []),
        ([4.0, 2.0, 1.0], [1, 0.5, 0.25]),
        ([0.0, 0.0], [1, 1]),
        ([3.0, 1.0, -1.0], [1, 0.5, 0]),
        ([-1.0, -3.0], [1, 0]),
    ],
)
def test_scores_of_several_scopes_become_comparable(scores, expected):
    assert values(scores) == expected


some_offers = st.lists(
    st.builds(
        Offer,
        st.sampled_from(["facts", "entities"]),
        st.integers(1, 400).map(lambda quarters: quarters / 4),
        st.floats(0, 1),
    ),
    min_size=1,
    max_size=12,
)


@given(some_offers, st.integers(0, 200), st.integers(0, 100), st.data())
def test_never_over_the_budget_and_the_best_stays_with_a_larger_one(offers, budget, more, data):
    additions = data.draw(st.lists(st.integers(0, len(offers) - 1), max_size=4))
    offers = [*offers, *(Offer(offers[i].section, 12, offers[i].value / 2, after=i) for i in additions)]
    small, large = (packed(offers, OPENINGS, size, first=[0]) for size in (budget, budget + more))
    assert small == packed(list(offers), dict(OPENINGS), budget, first=[0])
    assert spent(offers, small) <= budget
    assert spent(offers, large) <= budget + more
    assert (0 in small) == (offers[0].weight + OPENINGS[offers[0].section] <= budget)
    assert (0 in small) <= (0 in large)
    for place, offer in enumerate(offers):
        if place in small:
            assert offer.after is None or offer.after in small
        elif offer.after is None or offer.after in small:
            # Nothing is left out that there is room for.
            opening = 0 if any(offers[i].section == offer.section for i in small) else OPENINGS[offer.section]
            assert spent(offers, small) + opening + offer.weight > budget
    assert packed(offers, OPENINGS, math.inf, first=[0]) == set(range(len(offers)))
