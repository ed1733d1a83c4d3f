"""The order of the recipe `memory`: episodes in the light of what stands around them."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipeline.graph.search import Candidates, Leg, Method, Scope, StoredEpisode, item_key
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, EpisodeState, Source, Speaker, Usage
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from pipeline.text.analysis import query_terms
from search_api.retrieval.found import Hit
from search_api.retrieval.memory import MemoryWeights, episodes_in_context

DAY = datetime(2024, 1, 1, tzinfo=UTC)
ONLY_OWN = MemoryWeights(near=(0.0, 0.0), session=0.0, speaker=0.0, fact=0.0)


def turn(name, thread=None, speaker=None, group="g", text=None):
    episode = Episode(
        id=name,
        group_id=group,
        source=Source.message,
        content=text or name,
        reference_time=DAY,
        sequence=1,
        thread_id=thread,
        speaker=Speaker(name=speaker) if speaker else None,
    )
    return item_key(group, name), Hit(StoredEpisode(episode, EpisodeState.committed, Usage(), DAY), 0.0)


def order(
    turns,
    scores,
    pairs=(),
    weights=ONLY_OWN,
    facts=(),
    entities=(),
    query="q",
    known_at=None,
    method=Method.bm25,
):
    found = Candidates(
        legs=(Leg(Scope.episodes, method, tuple((item_key("g", k), s) for k, s in scores.items())),),
        items={},
        neighbours=tuple((item_key("g", a), item_key("g", b), steps) for a, b, steps in pairs),
    )
    shown = {
        Scope.episodes: dict(turns),
        Scope.facts: {item_key("g", fact.id): Hit(fact, 0.0) for fact, _ in facts},
        Scope.entities: {item_key("g", entity.id): Hit(entity, 0.0) for entity in entities},
    }
    ranked = tuple((item_key("g", fact.id), score) for fact, score in facts)
    order_ = episodes_in_context(found, shown, ranked, query, query_terms(query), known_at, weights)
    return {key.split("\x1f")[1]: score for key, score in order_}


def test_by_itself_the_score_of_the_methods_decides():
    assert order([turn("a"), turn("b")], {"a": 4.0, "b": 2.0}) == pytest.approx({"a": 1.0, "b": 0.5})


def test_the_answer_to_a_question_that_matches_comes_before_a_weak_match_elsewhere():
    turns = [
        turn("question", "t", text="Which kettle did you buy in Rome?"),
        turn("answer", "t", text="The red one."),
        turn("other", "u", text="I bought a lamp, a chair, a table, a rug and much else for our rooms."),
    ]
    weights = replace(ONLY_OWN, near=(0.5, 0.25))
    scores = {"question": 10.0, "other": 2.0}
    found = order(turns, scores, [("question", "answer", 1)], weights, query="Who bought the kettle in Rome?")
    assert list(found) == ["question", "answer", "other"]
    assert found["answer"] == pytest.approx(0.5)


def test_vectors_of_neighbours_count_by_their_distance_and_both_ways():
    turns = [turn(name, "t") for name in "abcd"]
    pairs = [("a", "b", 1), ("b", "c", 1), ("a", "c", 2)]
    weights = replace(ONLY_OWN, near=(0.5, 0.25), vectors=1.0)
    scores = {"a": 0.9, "c": 0.85, "d": 0.8}
    found = order(turns, scores, pairs, weights, method=Method.cosine)
    # Own: a 1, c 1/2. a: 1 + 1/4 of 1/2; b: 1/2 of 1 + 1/2 of 1/2; c: 1/2 + 1/4 of 1
    assert found == pytest.approx({"a": 1.0, "b": 0.75 / 1.125, "c": 0.75 / 1.125, "d": 0.0})


def test_a_conversation_that_matches_lifts_its_turns():
    turns = [turn("best", "t"), turn("weak", "t"), turn("stray", "u")]
    found = order(turns, {"best": 10.0, "weak": 3.0, "stray": 3.0}, weights=replace(ONLY_OWN, session=0.3))
    assert found == pytest.approx({"best": 1.0, "weak": 0.6 / 1.3, "stray": (0.3 + 0.3 * 0.3) / 1.3})


def test_episodes_without_a_thread_are_no_conversation():
    found = order([turn("a"), turn("b")], {"a": 10.0, "b": 5.0}, weights=replace(ONLY_OWN, session=1.0))
    assert found == pytest.approx({"a": 1.0, "b": 0.5})


def test_who_is_asked_about_is_who_speaks():
    turns = [turn("hers", speaker="Ana Ruiz"), turn("his", speaker="Bo")]
    weights = replace(ONLY_OWN, speaker=0.1)
    found = order(turns, {"hers": 1.0, "his": 1.0}, weights=weights, query="Where does ANA RUIZ work?")
    assert found == pytest.approx({"hers": 1.0, "his": 1 / 1.1})
    assert len(set(order(turns, {"hers": 1.0, "his": 1.0}, weights=weights, query="Anastasia").values())) == 1


def test_an_entity_that_was_found_lends_its_other_names():
    ana = Entity(
        id="ana",
        group_id="g",
        name="Ana Ruiz",
        aliases=("Anita",),
        keys=(entity_key("Ana Ruiz"), entity_key("Anita")),
        created_at=DAY,
    )
    turns = [turn("hers", speaker="Ana Ruiz"), turn("his", speaker="Bo")]
    weights = replace(ONLY_OWN, speaker=0.1)
    found = order(turns, {"hers": 1.0, "his": 1.0}, weights=weights, entities=[ana], query="what of anita")
    assert found["hers"] > found["his"]
    found = order(turns, {"hers": 1.0, "his": 1.0}, weights=weights, entities=[ana], query="something else")
    assert found["hers"] == found["his"]


def fact(name, *episodes):
    return Fact(
        id=name,
        group_id="g",
        source=EntityRef(id="a", name="A"),
        target=EntityRef(id="b", name="B"),
        relation="R",
        fact=name,
        beliefs=(Belief(known_from=DAY, holds=True, valid_at=DAY),),
        support=tuple(
            Support(episode_id=e, evidence_id=f"v{e}", known_from=DAY + timedelta(days=n))
            for n, e in enumerate(episodes)
        ),
    )


def test_facts_lead_to_their_episodes():
    turns = [turn("source"), turn("other")]
    weights = replace(ONLY_OWN, fact=0.5)
    found = order(
        turns, {"other": 1.0}, weights=weights, facts=[(fact("f", "source"), 0.8), (fact("g"), 0.5)]
    )
    assert found == pytest.approx({"other": 1 / 1.5, "source": 0.4 / 1.5})


def test_a_fact_leads_to_what_counted_at_the_time():
    turns = [turn("early"), turn("late")]
    weights = replace(ONLY_OWN, fact=0.5)
    found = order(turns, {}, weights=weights, facts=[(fact("f", "early", "late"), 1.0)], known_at=DAY)
    assert found["early"] > found["late"] == 0


def test_threads_of_one_name_in_two_groups_are_two():
    here, there = turn("a", "t"), turn("b", "t", group="h")
    found = order([here, there], {"a": 1.0}, weights=replace(ONLY_OWN, session=1.0))
    assert found["b"] == 0


def test_nothing_is_better_than_best_in_every_respect():
    turns = [turn("a", "t", "Ana"), turn("b", "t")]
    found = order(turns, {"a": 3.0}, [("a", "b", 1)], MemoryWeights(), [(fact("f", "a"), 1.0)], query="Ana")
    assert found["a"] == pytest.approx(1.0)
    assert 0 < found["b"] < 1
