"""Maximal marginal relevance: the twin and the other one, and properties."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from search_api.retrieval.fusion import by_score
from search_api.retrieval.mmr import marginal_relevance

TWINS = (("lobby", 1.0), ("lobby bar", 0.98), ("maps", 0.96))
PAIRS = {
    ("lobby", "lobby bar"): 0.98,
    ("lobby bar", "lobby"): 0.98,
    ("lobby", "maps"): 0.75,
    ("maps", "lobby"): 0.75,
    ("lobby bar", "maps"): 0.75,
    ("maps", "lobby bar"): 0.75,
}


def keys(picked):
    return [key for key, _ in picked]


def test_the_first_pick_is_the_most_relevant_whatever_the_weight():
    for weight in (0.0, 0.1, 0.5, 1.0):
        assert keys(marginal_relevance(TWINS, PAIRS, weight, 1)) == ["lobby"]


def test_a_small_weight_prefers_the_other_one_to_the_twin():
    assert keys(marginal_relevance(TWINS, PAIRS, 0.1, 2)) == ["lobby", "maps"]


def test_weight_one_is_relevance_only():
    assert keys(marginal_relevance(TWINS, PAIRS, 1.0, 2)) == ["lobby", "lobby bar"]


def test_similarity_counts_to_the_nearest_pick_not_to_the_last():
    relevance = (("a", 1.0), ("b", 0.9), ("a2", 0.8), ("c", 0.5))
    pairs = {("a", "a2"): 1.0, ("b", "a2"): 0.0, ("a", "b"): 0.0, ("a", "c"): 0.4, ("b", "c"): 0.4}
    pairs |= {(b, a): cosine for (a, b), cosine in pairs.items()}
    assert keys(marginal_relevance(relevance, pairs, 0.5, 3)) == ["a", "b", "c"]


def test_a_pair_without_a_cosine_counts_as_the_mean_of_the_known_ones():
    relevance = (*TWINS, ("never compared", 0.5))
    picked = keys(marginal_relevance(relevance, PAIRS, 0.1, 4))
    assert picked == ["lobby", "maps", "never compared", "lobby bar"]


def test_without_any_cosine_the_order_stays():
    assert keys(marginal_relevance(TWINS, {}, 0.1, 3)) == ["lobby", "lobby bar", "maps"]


RELEVANCE = st.dictionaries(
    st.text("abcdefgh", min_size=1, max_size=2), st.floats(0.01, 1), min_size=1, max_size=10
)


@st.composite
def candidates(draw):
    relevance = draw(RELEVANCE)
    pairs = {}
    for a in relevance:
        for b in relevance:
            if a < b:
                pairs[a, b] = pairs[b, a] = draw(st.floats(-1, 1))
    return by_score(relevance.items()), pairs


@given(candidates(), st.floats(0, 1), st.integers(1, 12))
def test_each_item_at_most_once_and_as_many_as_there_are(given_, weight, limit):
    relevance, pairs = given_
    picked = keys(marginal_relevance(relevance, pairs, weight, limit))
    assert len(picked) == len(set(picked)) == min(limit, len(relevance))
    assert picked[0] == relevance[0][0]


@given(candidates(), st.integers(1, 12))
def test_weight_one_keeps_the_order(given_, limit):
    relevance, pairs = given_
    assert marginal_relevance(relevance, pairs, 1.0, limit) == relevance[:limit]


@given(candidates(), st.floats(0, 1), st.integers(2, 12))
def test_every_pick_is_the_best_that_was_left(given_, weight, limit):
    relevance, pairs = given_
    scores = dict(relevance)
    picked = marginal_relevance(relevance, pairs, weight, limit)

    def worth(key, before):
        return weight * scores[key] - (1 - weight) * max(pairs[other, key] for other in before)

    for place in range(1, len(picked)):
        before = keys(picked[:place])
        left = scores.keys() - set(before)
        assert worth(picked[place][0], before) == max(worth(key, before) for key in left) == picked[place][1]
