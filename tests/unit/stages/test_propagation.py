"""Label propagation: examples, and the laws that hold for any graph."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipeline.stages.propagation import best_label, propagate

nodes = st.sampled_from("abcdefgh")
graphs = st.lists(st.tuples(nodes, nodes, st.integers(1, 3)), max_size=20)


def parts(labels: dict[str, str]) -> set[frozenset[str]]:
    return {frozenset(e for e, mark in labels.items() if mark == wanted) for wanted in labels.values()}


def test_two_triangles_joined_by_one_edge_are_two_communities() -> None:
    edges = [
        ("a", "b", 2),
        ("b", "c", 2),
        ("a", "c", 2),
        ("d", "e", 2),
        ("e", "f", 2),
        ("d", "f", 2),
        ("c", "d", 1),
    ]
    assert parts(propagate("abcdef", edges)) == {frozenset("abc"), frozenset("def")}


def test_an_entity_without_facts_is_in_no_community() -> None:
    assert propagate("abz", [("a", "b", 1)]) == {"a": "a", "b": "a"}


def test_ties_keep_the_present_label_and_else_take_the_smallest() -> None:
    assert best_label({"x": 2, "y": 2}, "y") == "y"
    assert best_label({"x": 2, "y": 2}, "z") == "x"
    assert best_label({"x": 2, "y": 3}, "x") == "y"
    assert best_label({}, None) is None


@given(graphs, st.randoms(use_true_random=False))
def test_the_order_of_nodes_and_edges_does_not_matter(
    edges: list[tuple[str, str, int]], random: object
) -> None:
    shuffled, names = list(edges), list("abcdefgh")
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    random.shuffle(names)  # type: ignore[attr-defined]
    assert propagate(names, shuffled) == propagate("abcdefgh", edges)


@given(graphs)
def test_a_label_is_its_smallest_member_and_only_joined_entities_have_one(
    edges: list[tuple[str, str, int]],
) -> None:
    labels = propagate("abcdefgh", edges)
    joined = {end for a, b, _ in edges if a != b for end in (a, b)}
    assert labels.keys() == joined
    for part in parts(labels):
        assert {labels[e] for e in part} == {min(part)}
