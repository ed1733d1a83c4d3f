"""What may be asked, and that a mistake is named by its field."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from pipeline.graph.search import Method, TimeRange
from search_api.problems import field_problems
from search_api.recipes import RECIPES, Reranker
from search_api.requests import ContextRequest, SearchRequest

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def ask(**fields):
    return SearchRequest.model_validate({"query": "ana", "group_ids": ["g"], **fields})


def faults(**fields):
    with pytest.raises(ValidationError) as caught:
        ask(**fields)
    return [problem.path for problem in field_problems(caught.value.errors())]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("limit", 0),
        ("limit", 101),
        ("limit", "5"),
        ("limit", True),
        ("recipe", "no_such_recipe"),
        ("reranker", "coin_toss"),
        ("as_of", "the day before"),
        ("as_of", 1700000000),
        ("known_at", "2024-99-99"),
        ("as_of", "0001-01-01T00:00:00+05:00"),
        ("colour", "red"),
        ("group_ids", []),
        ("group_ids", "g"),
        ("scopes", []),
        ("methods", []),
        ("query", 7),
        ("bfs_depth", 0),
        ("bfs_depth", 9),
        ("mmr_lambda", 1.1),
        ("mmr_lambda", float("nan")),
        ("min_score", float("inf")),
        ("center", ""),
    ],
)
def test_a_wrong_value_is_named(field, value):
    assert faults(**{field: value}) == [field]


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"scopes": ["dreams"]}, "scopes.0"),
        ({"methods": ["bm25", "telepathy"]}, "methods.1"),
        ({"group_ids": ["a\nb"]}, "group_ids.0"),
        ({"group_ids": ["g", ""]}, "group_ids.1"),
        ({"filters": {"colour": ["red"]}}, "filters.colour"),
        ({"filters": {"valid_at": [{"before": "2024"}]}}, "filters.valid_at.0.before"),
        ({"filters": {"valid_at": [{"gt": "soon"}]}}, "filters.valid_at.0.gt"),
        ({"filters": {"valid_at": [{}]}}, "filters.valid_at.0"),
        ({"filters": {"valid_at": {"gt": "2024"}}}, "filters.valid_at"),
        ({"filters": {"metadata": {"tags": ["a"]}}}, "filters.metadata.tags"),
        ({"filters": {"metadata": {"big": 2**63}}}, "filters.metadata.big"),
        ({"filters": {"relations": "SOLD"}}, "filters.relations"),
    ],
)
def test_a_mistake_further_in_is_named_by_its_path(fields, path):
    assert faults(**fields) == [path]


def test_a_query_is_needed_unless_there_is_a_place_to_start_from():
    assert faults(query=None) == ["query"]
    assert faults(query=None, bfs_origins=[]) == ["query"]
    assert ask(query=None, center="c").query is None
    assert ask(query=None, bfs_origins=["e1"]).bfs_origins == ("e1",)


def test_an_order_by_distance_needs_a_centre():
    assert faults(reranker="node_distance") == ["center"]
    assert faults(recipe="hybrid_node_distance") == ["center"]
    assert ask(recipe="hybrid_node_distance", reranker="rrf").order is Reranker.rrf


def test_as_of_left_out_is_now_and_null_is_any_time():
    assert ask().moment(NOW) == NOW
    assert ask(as_of=None).moment(NOW) is None
    assert ask(as_of="2024-03-01T05:30:00+05:30").moment(NOW) == datetime(2024, 3, 1, tzinfo=UTC)
    assert ask(as_of="2024-03-01T00:00:00").moment(NOW) == datetime(2024, 3, 1, tzinfo=UTC)


def test_half_a_surrogate_pair_in_a_query_is_replaced():
    assert ask(query="ana \ud800 lopez").query == "ana \ufffd lopez"


def test_half_a_surrogate_pair_in_a_group_is_refused():
    assert faults(group_ids=["\ud800"]) == ["group_ids.0"]


def test_repeats_are_taken_once():
    assert ask(group_ids=["b", "a", "b"], scopes=["facts", "facts"]).group_ids == ("b", "a")
    assert ask(methods=["bm25", "bm25"]).methods == (Method.bm25,)


def test_filters_become_what_the_store_takes():
    asked = ask(
        filters={
            "entity_types": ["City"],
            "metadata": {"vip": True, "priority": 5, "share": 0.5, "channel": "chat"},
            "valid_at": [{"lt": "2020"}, {"gte": "2022-04-01", "lt": "2022-04-02"}],
        }
    ).filters
    assert asked is not None
    filters = asked.filters
    assert filters.entity_types == ("City",)
    assert filters.relations == ()
    assert filters.metadata == {"vip": True, "priority": 5, "share": 0.5, "channel": "chat"}
    assert filters.metadata["vip"] is True
    assert filters.valid_at == (
        TimeRange(lt=datetime(2020, 1, 1, tzinfo=UTC)),
        TimeRange(gte=datetime(2022, 4, 1, tzinfo=UTC), lt=datetime(2022, 4, 2, tzinfo=UTC)),
    )


def test_a_centre_alone_means_an_order_by_distance_but_a_named_recipe_keeps_its_own():
    assert ask(center="c").order is Reranker.node_distance
    assert ask(center="c", recipe="hybrid_mmr").order is Reranker.mmr
    assert ask(center="c", reranker="rrf").order is Reranker.rrf


def test_context_has_a_budget():
    assert ContextRequest(query="ana", group_ids=("g",)).max_tokens == 4000
    assert ContextRequest(query="ana", group_ids=("g",)).replaced is False
    for wrong in (1, "yes", None):
        with pytest.raises(ValidationError, match="replaced"):
            ContextRequest(query="ana", group_ids=("g",), replaced=wrong)
    with pytest.raises(ValidationError, match="replaced"):
        SearchRequest(query="ana", group_ids=("g",), replaced=True)
    with pytest.raises(ValidationError, match="max_tokens"):
        ContextRequest(query="ana", group_ids=("g",), max_tokens=0)


def test_the_recipes_of_the_contract_and_of_graphiti_are_there():
    for family, orders in {
        "COMBINED": "RRF MMR CROSS_ENCODER",
        "EDGE": "RRF MMR NODE_DISTANCE EPISODE_MENTIONS CROSS_ENCODER",
        "NODE": "RRF MMR NODE_DISTANCE EPISODE_MENTIONS CROSS_ENCODER",
        "COMMUNITY": "RRF MMR CROSS_ENCODER",
    }.items():
        for order in orders.split():
            assert RECIPES[f"{family}_HYBRID_SEARCH_{order}"].reranker.value == order.lower()
    for order in set(Reranker) - {Reranker.memory}:
        assert RECIPES[f"hybrid_{order}"].reranker is order
    assert RECIPES["memory"].reranker is Reranker.memory
    assert RECIPES["bm25"].methods == (Method.bm25,)
