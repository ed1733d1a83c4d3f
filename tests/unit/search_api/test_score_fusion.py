"""Fusion by normalised score."""

import pytest

from pipeline.graph.search import Leg, Method, Scope
from search_api.retrieval.score_fusion import MIN_SPREAD, WEIGHTS, fused_by_score, normalised


def leg(method, **scores):
    return Leg(Scope.facts, method, tuple(scores.items()))


def test_best_by_every_method_is_one():
    legs = [leg(Method.bm25, a=7.0, b=1.0), leg(Method.cosine, a=0.9, c=0.5)]
    assert fused_by_score(legs)[0] == ("a", pytest.approx(1.0))


def test_words_count_from_zero_and_cosines_from_the_last_candidate():
    assert normalised(leg(Method.bm25, a=8.0, b=6.0)) == {"a": 1.0, "b": 0.75}
    found = normalised(leg(Method.cosine, a=0.9, b=0.85, c=0.8))
    assert found == pytest.approx({"a": 1.0, "b": 0.5, "c": 0.0})


def test_cosines_that_lie_close_together_are_not_stretched():
    found = normalised(leg(Method.cosine, a=0.81, b=0.80))
    assert found["a"] - found["b"] == pytest.approx(0.01 / MIN_SPREAD)


def test_a_sure_method_wins_over_one_that_hardly_sees_a_difference():
    # By rank the two would be equal: each is first once.
    legs = [leg(Method.bm25, a=9.0, b=3.0), leg(Method.cosine, b=0.81, a=0.80)]
    assert [key for key, _ in fused_by_score(legs)] == ["a", "b"]


def test_the_methods_weigh_as_they_say():
    legs = [leg(Method.bm25, a=1.0), leg(Method.cosine, b=0.9, c=0.5)]
    total = WEIGHTS[Method.bm25] + WEIGHTS[Method.cosine]
    assert dict(fused_by_score(legs)) == pytest.approx(
        {"a": WEIGHTS[Method.bm25] / total, "b": WEIGHTS[Method.cosine] / total, "c": 0.0}
    )


def test_nothing_found_is_nothing():
    assert fused_by_score([]) == ()
    assert fused_by_score([leg(Method.bm25), leg(Method.cosine)]) == ()


def test_equal_scores_stand_in_the_order_of_their_keys():
    assert [key for key, _ in fused_by_score([leg(Method.bm25, b=1.0, a=1.0)])] == ["a", "b"]
