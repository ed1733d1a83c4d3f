"""The orders by mentions and by distance."""

from __future__ import annotations

from search_api.retrieval.distance import nearest
from search_api.retrieval.mentions import most_mentioned

RELEVANCE = (("far", 1.0), ("alone", 0.9), ("near", 0.8), ("also near", 0.7))


def test_the_most_mentioned_first_and_equals_by_relevance():
    assert most_mentioned(RELEVANCE, {"near": 3, "alone": 5, "far": 3}) == (
        ("alone", 5.0),
        ("far", 3.0),
        ("near", 3.0),
        ("also near", 0.0),
    )


def test_the_nearest_first_and_what_is_not_connected_last():
    assert nearest(RELEVANCE, {"far": 3, "near": 1, "also near": 1}) == (
        ("near", 0.5),
        ("also near", 0.5),
        ("far", 0.25),
        ("alone", 0.0),
    )


def test_the_centre_itself_is_nearest():
    assert nearest((("a", 1.0), ("centre", 0.1)), {"centre": 0, "a": 1})[0] == ("centre", 1.0)
