"""Retrieval over a small graph: what is found, in which order, and what it does without."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from pipeline.errors import Retryable
from pipeline.graph.search import Method, Scope
from pipeline.model.fact import Belief
from pipeline.text.analysis import query_terms
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.search import MAX_EMBEDDED_CHARACTERS, Retrieval
from tests.unit.search_api.word_models import word_vector

LEARNED = datetime(2024, 1, 1, tzinfo=UTC)
NOW = datetime(2025, 1, 1, tzinfo=UTC)
ESPRESSO = "Nadia repaired the espresso machine in the lobby"


@pytest.fixture
def retrieval(graph, embedder, encoder):
    return Retrieval(graph, embedder, encoder, lambda: NOW)


def ask(query="ana", **fields):
    return SearchRequest.model_validate({"query": query, "group_ids": ["g"], **fields})


async def test_the_query_is_embedded_once_and_the_store_asked_once(retrieval, graph, embedder):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    answer = await retrieval.search(ask(scopes=["facts", "entities", "episodes", "communities"]))
    assert [fact.fact for fact in answer.facts] == ["Ana works at Acme"]
    assert embedder.asked == [(["ana"], True)]
    (plan,) = graph.plans
    assert plan.terms == ("ana",)
    assert plan.scopes == (Scope.facts, Scope.entities, Scope.episodes, Scope.communities)
    assert answer.degraded == ()
    assert answer.took_ms >= 0


async def test_episodes_are_measured_by_the_question_without_names_in_the_same_call(
    retrieval, graph, embedder
):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    whole, bare = "Where does the sister of Ana work?", "Where does the sister of work?"
    await retrieval.search(ask(whole, scopes=["facts", "episodes"]))
    await retrieval.search(ask(whole, scopes=["facts"]))
    assert embedder.asked == [([whole, bare], True), ([whole], True)]
    both, facts = graph.plans
    assert (both.vector_of(Scope.facts), both.vector_of(Scope.episodes)) == tuple(
        map(word_vector, (whole, bare))
    )
    assert facts.episode_vector is None


async def test_nothing_is_embedded_for_text_search(retrieval, graph, embedder):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    assert len((await retrieval.search(ask(methods=["bm25"]))).facts) == 1
    assert embedder.asked == []
    assert graph.plans[0].vector is None


async def test_a_long_query_is_embedded_by_its_beginning_and_searched_whole(retrieval, graph, embedder):
    graph.add_fact("g", "Ines bought a quillonade", "ines", "quillonade")
    query = "what do you know " * 3000 + "quillonade"
    answer = await retrieval.search(ask(query, methods=["bm25", "cosine"]))
    assert answer.facts[0].fact == "Ines bought a quillonade"
    assert len(embedder.asked[0][0][0]) == MAX_EMBEDDED_CHARACTERS
    assert graph.plans[0].terms == tuple(query_terms("know quillonade"))


async def test_a_blank_query_finds_nothing_and_asks_no_model(retrieval, graph, embedder):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    assert (await retrieval.search(ask("  "))).facts == ()
    assert embedder.asked == []


async def test_an_embedder_that_is_down_leaves_text_search(retrieval, graph, embedder):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    embedder.trouble = Retryable("connection refused")
    answer = await retrieval.search(ask())
    assert len(answer.facts) == 1
    assert answer.degraded == ("cosine: the query could not be embedded: connection refused",)
    assert graph.plans[0].methods == (Method.bm25,)


async def test_an_embedder_that_breaks_is_named_without_its_message(retrieval, graph, embedder):
    embedder.trouble = RuntimeError("secret")
    answer = await retrieval.search(ask())
    assert answer.degraded == ("cosine: the query could not be embedded (RuntimeError)",)


async def test_without_an_embedder(graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    answer = await Retrieval(graph, None, None, lambda: NOW).search(ask())
    assert len(answer.facts) == 1
    assert answer.degraded == ("cosine: no embedder is configured",)


async def test_a_store_that_is_down_is_not_hidden(retrieval, graph):
    graph.trouble = Retryable("no route")
    with pytest.raises(Retryable, match="no route"):
        await retrieval.search(ask())


async def test_what_the_store_could_not_use_is_passed_on(retrieval, graph):
    graph.degraded = ("cosine: the vector index is being built",)
    assert (await retrieval.search(ask())).degraded == ("cosine: the vector index is being built",)


async def test_limits_hold_for_each_scope_and_leave_no_trace(retrieval, graph):
    for number in range(12):
        graph.add_fact("g", f"Crate {number} in Hall K", f"c{number}", "hall")
        graph.add_entity("g", f"Crate {number}")
    scopes = ["facts", "entities"]
    for limit, expected in ((1, 1), (None, 10), (100, 12), (1, 1)):
        fields = {} if limit is None else {"limit": limit}
        answer = await retrieval.search(ask("Crate", scopes=scopes, **fields))
        assert (len(answer.facts), len(answer.entities)) == (expected, expected)


async def test_the_same_question_has_the_same_answer_whatever_the_order_in_the_store(retrieval, graph):
    for number in range(6):
        graph.add_fact("g", "The frame contract was signed", f"c{number}", "frame", id=f"f{number}")
    first = [fact.id for fact in (await retrieval.search(ask("contract"))).facts]
    graph.items[Scope.facts].reverse()
    assert [fact.id for fact in (await retrieval.search(ask("contract"))).facts] == first
    assert len(first) == 6


@pytest.mark.parametrize(
    ("weight", "limit", "expected"),
    [
        (0.5, 1, ["espresso"]),
        (0.1, 1, ["espresso"]),
        (0.1, 2, ["espresso", "maps"]),
        (1, 2, ["espresso", "espresso"]),
    ],
)
async def test_mmr_picks_relevant_then_different(retrieval, graph, weight, limit, expected):
    graph.add_fact("g", ESPRESSO, "nadia", "pavoni")
    graph.add_fact("g", f"{ESPRESSO} bar", "nadia", "gaggia")
    graph.add_fact("g", "Nadia collects antique maps of Iceland", "nadia", "maps")
    answer = await retrieval.search(ask(ESPRESSO, reranker="mmr", mmr_lambda=weight, limit=limit))
    assert ["maps" if "maps" in fact.fact else "espresso" for fact in answer.facts] == expected


async def test_most_mentioned_first(retrieval, graph):
    for name, times in (("Kettle Cafe", 1), ("Kettle House", 3), ("Kettle Bar", 5)):
        graph.add_entity("g", name)
        for number in range(times):
            graph.add_fact("g", f"{name} near {number}", name, f"p{number}", episodes=(f"{name}{number}",))
    answer = await retrieval.search(ask("Kettle", scopes=["entities"], reranker="episode_mentions"))
    assert [entity.name for entity in answer.entities] == ["Kettle Bar", "Kettle House", "Kettle Cafe"]
    assert [entity.score for entity in answer.entities] == [5, 3, 1]


async def test_distance_from_a_centre_either_direction_the_unconnected_last(retrieval, graph):
    for name in ("Relay Birch", "Depot", "Relay Xenon", "Relay Amber", "Relay Yarrow", "Relay Zinc"):
        graph.add_entity("g", name)
    for source, target in (
        ("Relay Birch", "Depot"),
        ("Relay Xenon", "Relay Amber"),
        ("Relay Xenon", "Relay Yarrow"),
        ("Relay Zinc", "Relay Yarrow"),
    ):
        graph.add_fact("g", f"{source} feeds {target}", source, target)
    fields = {"scopes": ["entities"], "reranker": "node_distance", "center": "Relay Zinc"}
    names = [entity.name for entity in (await retrieval.search(ask("Relay", **fields))).entities]
    assert names[:4] == ["Relay Zinc", "Relay Yarrow", "Relay Xenon", "Relay Amber"]
    assert set(names[4:]) == {"Relay Birch", "Depot"}
    names = [entity.name for entity in (await retrieval.search(ask("Relay", limit=3, **fields))).entities]
    assert names == ["Relay Zinc", "Relay Yarrow", "Relay Xenon"]


async def test_a_centre_that_nothing_is_joined_to_is_said(retrieval, graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    answer = await retrieval.search(ask(center="nobody"))
    assert len(answer.facts) == 1
    assert answer.degraded == ("node_distance: nothing is joined to center",)


async def test_a_walk_without_a_query(retrieval, graph):
    graph.add_fact("g", "Bo works at the Mill", "bo", "mill")
    graph.add_fact("g", "Bo lives in Oslo", "bo", "oslo")
    graph.add_fact("g", "Dag works at the Inn", "dag", "inn")
    near = SearchRequest(group_ids=("g",), bfs_origins=("mill",))
    assert [fact.fact for fact in (await retrieval.search(near)).facts] == ["Bo works at the Mill"]
    far = SearchRequest(group_ids=("g",), bfs_origins=("mill",), bfs_depth=2)
    assert len((await retrieval.search(far)).facts) == 2


async def test_a_cross_encoder_is_called_once_for_all_scopes(retrieval, graph, encoder):
    graph.add_fact("g", "Ana works", "ana", "acme")
    graph.add_fact("g", "Ana works at a place with a long name", "ana", "place")
    graph.add_entity("g", "Ana")
    answer = await retrieval.search(ask(scopes=["facts", "entities"], reranker="cross_encoder"))
    assert [fact.fact for fact in answer.facts] == ["Ana works at a place with a long name", "Ana works"]
    assert answer.facts[0].score == 37.0
    ((query, texts),) = encoder.calls
    assert query == "ana"
    assert sorted(texts) == ["Ana works", "Ana works at a place with a long name", "Ana: About Ana."]
    assert answer.degraded == ()


async def test_without_a_cross_encoder_the_order_is_fused_and_said(graph, embedder):
    for customer in ("Alder", "Birch", "Cedar"):
        graph.add_fact("g", "The frame contract was signed", customer, "frame", id=customer)
    retrieval = Retrieval(graph, embedder, None, lambda: NOW)
    answer = await retrieval.search(ask("contract", reranker="cross_encoder", min_score=7))
    assert len(answer.facts) == 3
    assert answer.degraded == ("cross_encoder: none is configured; the order is by rank fusion",)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (Retryable("the rerank endpoint answered 500"), "cross_encoder: the rerank endpoint answered 500"),
        (RuntimeError("boom"), "cross_encoder: failed (RuntimeError)"),
    ],
)
async def test_a_cross_encoder_that_fails_costs_only_its_order(retrieval, graph, encoder, trouble, said):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    encoder.trouble = trouble
    answer = await retrieval.search(ask(reranker="cross_encoder"))
    assert len(answer.facts) == 1
    assert answer.degraded == (f"{said}; the order is by rank fusion",)


async def test_min_score_drops_what_scores_less(retrieval, graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme")
    graph.add_fact("g", "Bo plays chess", "bo", "chess")
    everything = await retrieval.search(ask("ana works at acme"))
    assert [fact.score for fact in everything.facts] == [1.0, pytest.approx(61 / 62 / 2)]
    only = await retrieval.search(ask("ana works at acme", min_score=0.9))
    assert [fact.fact for fact in only.facts] == ["Ana works at Acme"]


async def test_facts_are_shown_as_they_were_believed(retrieval, graph):
    later = LEARNED + timedelta(days=90)
    open_, closed = (
        Belief(known_from=LEARNED, valid_at=LEARNED),
        Belief(known_from=later, valid_at=LEARNED, invalid_at=later),
    )
    graph.add_fact("g", "Fern has the Basic Plan", "fern", "basic", beliefs=(open_, closed))
    assert (await retrieval.search(ask("plan"))).facts == ()
    past = (LEARNED + timedelta(days=30)).isoformat()
    (seen,) = (await retrieval.search(ask("plan", as_of=past))).facts
    assert seen.invalid_at == later
    assert seen.expired_at == later
    (seen,) = (await retrieval.search(ask("plan", known_at=past))).facts
    assert seen.invalid_at is None


async def test_what_was_stored_later_was_not_known(retrieval, graph):
    graph.add_entity("g", "Ana", created_at=NOW)
    assert len((await retrieval.search(ask(scopes=["entities"]))).entities) == 1
    answer = await retrieval.search(ask(scopes=["entities"], known_at=LEARNED.isoformat()))
    assert answer.entities == ()


async def test_a_context_has_facts_entities_communities_and_episodes_in_this_order(retrieval, graph):
    graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="f1")
    graph.add_entity("g", "Ana", id="ana")
    graph.add_community("g", "Ana and friends", "ana")
    graph.add_episode("g", "e1", "Ana said hello")
    answer = await retrieval.context(ContextRequest(query="ana", group_ids=("g",)))
    assert (answer.facts, answer.entities, answer.communities) == (("f1",), ("ana",), ("Ana and friends",))
    assert answer.episodes == ("e1",)
    places = [
        answer.context.index(text)
        for text in ("Ana works at Acme", "Ana: About Ana.", "Ana and friends", "Ana said hello")
    ]
    assert places == sorted(places)
