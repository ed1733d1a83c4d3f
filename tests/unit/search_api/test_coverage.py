"""How much of a question an episode and its neighbours cover."""

import pytest

from search_api.retrieval.coverage import MAX_READ_CHARACTERS, covered

NEAR = (0.5, 0.25)


def test_a_word_counts_once_where_it_stands_best():
    texts = {"a": "kettle", "b": "kettle", "c": "lamp"}
    alone = covered(["kettl"], texts, [], NEAR)
    beside = covered(["kettl"], texts, [("a", "b", 1)], NEAR)
    assert beside == pytest.approx(alone)
    assert alone["c"] == 0


def test_words_that_two_turns_share_out_count_together():
    texts = {"asks": "which kettle", "tells": "from rome", "echo": "kettle yes", "echoed": "our kettle"}
    pairs = [("asks", "tells", 1), ("echo", "echoed", 1)]
    found = covered(["kettl", "rome"], texts, pairs, NEAR)
    assert sorted(found, key=found.__getitem__, reverse=True)[:2] == ["tells", "asks"]


def test_a_word_next_to_it_counts_half_and_two_places_away_a_quarter():
    texts = {"a": "kettle", "b": "lamp", "c": "chair"}
    found = covered(["kettl"], texts, [("a", "b", 1), ("b", "c", 1), ("a", "c", 2)], NEAR)
    assert found["b"] == pytest.approx(found["a"] / 2)
    assert found["c"] == pytest.approx(found["a"] / 4)


def test_a_rare_word_counts_more_than_a_common_one():
    texts = {"a": "kettle", "b": "lamp", "c": "lamp", "d": "lamp"}
    found = covered(["kettl", "lamp"], texts, [], NEAR)
    assert found["a"] > found["b"] > 0


def test_repeats_add_less_each_time():
    texts = {"one": "lamp x x x", "two": "lamp lamp x x", "four": "lamp lamp lamp lamp", "none": "x x x x"}
    found = covered(["lamp"], texts, [], NEAR)
    assert found["one"] < found["two"] < found["four"]
    assert found["four"] - found["two"] < found["two"] - found["one"]


def test_of_a_long_text_the_beginning_is_read():
    texts = {"late": "x " * MAX_READ_CHARACTERS + "kettle", "early": "kettle " + "x " * MAX_READ_CHARACTERS}
    found = covered(["kettl"], texts, [], NEAR)
    assert found["late"] == 0 < found["early"]


def test_neighbours_that_are_not_among_the_candidates_are_passed_over():
    assert covered(["kettl"], {"a": "kettle"}, [("a", "gone", 1)], NEAR)["a"] > 0


def test_nothing_to_read():
    assert covered(["kettl"], {}, [], NEAR) == {}
    assert covered([], {"a": "kettle", "b": ""}, [("a", "b", 1)], NEAR) == {"a": 0, "b": 0}
