"""From a request to the question to the store."""

from __future__ import annotations

from datetime import UTC, datetime

from pipeline.graph.search import Method, Scope
from search_api.recipes import Reranker
from search_api.requests import SearchRequest
from search_api.retrieval.plan import Walk, candidate_limit, choose_methods, choose_scopes, search_plan

NOW = datetime(2025, 1, 1, tzinfo=UTC)


def ask(**fields):
    return SearchRequest.model_validate({"query": "ana", "group_ids": ["g"], **fields})


def test_scopes_of_the_request_then_of_the_recipe_then_of_the_endpoint():
    default = (Scope.facts,)
    assert choose_scopes(ask(), default) == default
    assert choose_scopes(ask(recipe="NODE_HYBRID_SEARCH_RRF"), default) == (Scope.entities,)
    assert choose_scopes(ask(recipe="NODE_HYBRID_SEARCH_RRF", scopes=["episodes"]), default) == (
        Scope.episodes,
    )
    assert choose_scopes(ask(recipe="COMBINED_HYBRID_SEARCH_MMR"), default) == tuple(Scope)


def test_methods_of_the_request_win_over_the_recipe():
    assert choose_methods(ask()).usable == (Method.bm25, Method.cosine)
    assert choose_methods(ask(methods=["cosine"])).usable == (Method.cosine,)
    assert choose_methods(ask(recipe="bm25")).usable == (Method.bm25,)


def test_a_place_to_start_from_adds_breadth_first():
    chosen = choose_methods(ask(bfs_origins=["e1"]))
    assert chosen.usable == (Method.bm25, Method.cosine, Method.bfs)
    assert chosen.walk == Walk(("e1",), 1)


def test_without_a_query_only_breadth_first_is_left():
    assert choose_methods(ask(query=None, bfs_origins=["e1"], bfs_depth=2)).usable == (Method.bfs,)
    chosen = choose_methods(ask(query=None, center="c"))
    assert (chosen.usable, chosen.walk) == ((Method.bfs,), Walk(("c",), 3))


def test_what_cannot_be_used_is_said():
    assert choose_methods(ask(methods=["bm25", "bfs"])).degraded == ("bfs: needs bfs_origins or center",)
    assert choose_methods(ask(query=None, center="c", methods=["bm25", "bfs"])).degraded == (
        "bm25: needs a query",
    )
    assert choose_methods(ask(bfs_origins=["e1"], methods=["bm25"])).degraded == (
        "bfs_origins: not used, since methods does not name bfs",
    )


def test_a_centre_is_no_walk_when_there_is_a_query():
    chosen = choose_methods(ask(center="c"))
    assert (chosen.usable, chosen.walk) == ((Method.bm25, Method.cosine), None)


def test_more_candidates_than_are_shown():
    assert candidate_limit(1, Reranker.rrf) == 50
    assert candidate_limit(100, Reranker.rrf) == 200
    assert candidate_limit(3, Reranker.node_distance) == 200


def test_the_store_is_asked_for_what_the_order_needs_and_no_more():
    def plan(**fields):
        request = ask(**fields)
        scopes, methods = (Scope.facts,), (Method.bm25,)
        return search_plan(request, scopes, methods, None, terms=["ana"], vector=None, now=NOW)

    assert (plan().similarities, plan().mentions, plan().distances_from) == (False, False, None)
    assert plan(reranker="mmr").similarities
    assert plan(reranker="episode_mentions").mentions
    assert plan(reranker="node_distance", center="c").distances_from == "c"
    assert plan(reranker="rrf", center="c").distances_from is None
    assert plan().as_of == NOW
    assert plan(as_of=None).as_of is None
    assert plan().known_at is None
