"""The Neo4j store, method by method: what it writes and what it reads back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import pytest_asyncio

from pipeline.errors import Poison, Retryable, SettingError
from pipeline.graph.community_port import CommunityCommit, CommunityQuery, CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.fact_port import FactQuery, FactWrite, Triplet
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j.codec import UNBOUNDED_FUTURE, UNBOUNDED_PAST, micros, scope_token
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.community import Community
from pipeline.model.entity import SummaryLine
from pipeline.model.episode import EpisodeState, Source, Usage
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Belief
from tests.integration.graph.neo4j_write_kit import (
    AT,
    CountingObserver,
    axis,
    cypher,
    entities_by_id,
    entity,
    entity_commit,
    entity_query,
    episode,
    evidence,
    fact,
    fact_commit,
    opened,
    stored,
)

HOSTILE = [
    "Person`) DETACH DELETE n //",
    "$($x)",
    "Ti\0ny",
    "",
    "x" * 5000,
    "人",
    "Episodic",
    "Community",
    "Entity",
]


@pytest_asyncio.fixture
async def store(bolt_uri: str) -> AsyncIterator[Neo4jGraphStore]:
    async with opened(bolt_uri) as found:
        yield found


async def test_opening_again_and_pinging_succeed(store: Neo4jGraphStore) -> None:
    await store.open()
    await store.ping()


async def test_another_dimension_is_refused_with_both_numbers(bolt_uri: str, store: Neo4jGraphStore) -> None:
    other = Neo4jGraphStore(bolt_uri, dimension=385)
    with pytest.raises(SettingError, match=r"384.*385"):
        await other.open()


async def test_a_vector_of_another_length_is_refused(store: Neo4jGraphStore, group: str) -> None:
    with pytest.raises(SettingError, match=r"3.*384"):
        await store.receive(episode(group, "e1"), [1.0, 0.0, 0.0], 4, AT)


async def test_a_database_that_does_not_answer_is_retryable() -> None:
    nobody = Neo4jGraphStore("bolt://127.0.0.1:1", dimension=384)
    with pytest.raises(Retryable):
        await nobody.open()


async def test_a_closed_store_is_retryable(store: Neo4jGraphStore, group: str) -> None:
    await store.close()
    with pytest.raises(Retryable):
        await store.ping()


async def test_an_episode_round_trips_and_the_first_content_wins(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    content = {"deep": [1, 2.5, None, {"naïve": "\0 😀 `) MATCH (n) DETACH DELETE n //"}], "big": 2**53 + 1}
    first = episode(
        group, "e/1", source=Source.json, content=content, metadata={"n": 1, "t": True, "f": 1.5, "s": "1"}
    )
    received = await store.receive(first, axis(0), 4, AT)
    again = await store.receive(episode(group, "e/1", content="other"), axis(1), 4, AT + timedelta(days=1))
    assert received.stored == again.stored == first
    assert received.mark is None
    rows = await cypher(
        bolt_uri,
        "MATCH (p:Episodic {group_id: $group, uuid: 'e/1'}) RETURN p.created_at, p.valid_at, p.fs_state, "
        "p.fs_tags, size(p.content_embedding), p.content_embedding[0], p.fs_reference, p.fs_scope",
        group=group,
    )
    created, valid, state, tags, length, first_value, reference, scope = rows[0]
    assert (created.to_native(), valid.to_native(), state) == (AT, AT, "received")
    assert sorted(tags) == ['["f",1.5]', '["n",1]', '["s","1"]', '["t",true]']
    assert (length, first_value, reference, scope) == (384, 1.0, micros(AT), scope_token(group))


async def test_the_context_is_what_stands_before_in_the_thread_oldest_first(
    store: Neo4jGraphStore, group: str
) -> None:
    day = timedelta(days=1)
    placed = [
        ("a", "t", AT - 3 * day, 1),
        ("b", "t", AT - 2 * day, 2),
        ("c", "t", AT, 3),
        ("later", "t", AT, 9),
        ("after", "t", AT + day, 4),
        ("elsewhere", "u", AT - day, 5),
        ("alone", None, AT - day, 6),
    ]
    for name, thread, when, sequence in placed:
        await store.receive(
            episode(group, name, thread_id=thread, reference_time=when, sequence=sequence), None, 4, AT
        )
    asked = episode(group, "now", thread_id="t", reference_time=AT, sequence=8)
    assert [e.id for e in (await store.receive(asked, None, 4, AT)).context] == ["a", "b", "c"]
    assert [e.id for e in (await store.receive(asked, None, 2, AT)).context] == ["b", "c"]
    alone = episode(group, "also alone", reference_time=AT, sequence=8)
    assert (await store.receive(alone, None, 4, AT)).context == ()


async def test_a_very_long_thread_name_is_a_thread(store: Neo4jGraphStore, group: str) -> None:
    long = "ж" * 20000
    await store.receive(episode(group, "a", thread_id=long), None, 4, AT)
    asked = episode(group, "b", thread_id=long, sequence=2)
    assert [e.id for e in (await store.receive(asked, None, 4, AT)).context] == ["a"]
    other = episode(group, "c", thread_id=long + "!", sequence=3)
    assert (await store.receive(other, None, 4, AT)).context == ()


async def test_the_first_extraction_stands(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one = episode(group, "e1")
    await store.receive(one, None, 4, AT)
    first = ExtractionCommit(one.ref, EpisodeState.extracted, "first", Usage(llm_calls=2, prompt_tokens=10))
    second = ExtractionCommit(one.ref, EpisodeState.skipped, None, Usage(llm_calls=1))
    assert await store.commit_extraction(first) == Mark("first")
    assert await store.commit_extraction(second) == Mark("first")
    assert (await store.receive(one, None, 4, AT)).mark == Mark("first")
    assert await _episode(bolt_uri, group) == (
        "extracted",
        Usage(llm_calls=2, prompt_tokens=10),
        None,
    )


async def test_entities_round_trip_exactly(store: Neo4jGraphStore, group: str) -> None:
    one = episode(group, "e1")
    full = entity(
        group,
        "Ana \0 😀",
        type="Person",
        aliases=("Annie", "`) DETACH DELETE n //"),
        keys=("ana", "annie", "`) detach delete n //"),
        summary="A doctor. Ana lives in Lima.",
        description="A doctor.",
        lines=(SummaryLine(fact_id="f1", text="Ana lives in Lima."),),
        attributes={"a": {"b": [1, 2.0, True, None, "\0", {"c": 10**20}]}, "": []},
        created_at=datetime(1999, 12, 31, 23, 59, 59, 999999, tzinfo=UTC),
    )
    bare = entity(group, "Bob")
    await stored(store, one, full, bare)
    assert await entities_by_id(store, one, full.id, bare.id, "nobody") == {full.id: full, bare.id: bare}
    view = await store.entity_view(entity_query(one, "annie", "nobody", "bob"))
    assert view.by_key == ((full,), (), (bare,))
    assert view.similar == ((), (), ())
    assert (view.mark, view.lane_version) == (Mark("resolved e1"), 1)


async def test_homonyms_share_a_key_and_lost_keys_find_nothing(store: Neo4jGraphStore, group: str) -> None:
    city, person = entity(group, "Paris", type="City"), entity(group, "Paris", type="Person")
    await stored(store, episode(group, "e1"), city, person)
    renamed = person.model_copy(update={"name": "Paris H", "keys": ("paris h",)})
    two = episode(group, "e2")
    view = await store.entity_view(entity_query(two, "Paris"))
    assert {e.id for e in view.by_key[0]} == {city.id, person.id}
    await stored(store, two, renamed)
    view = await store.entity_view(entity_query(two, "Paris", "paris h"))
    assert [[e.id for e in found] for found in view.by_key] == [[city.id], [person.id]]


async def test_look_alikes_come_from_both_methods_and_from_the_group_only(
    store: Neo4jGraphStore, group: str
) -> None:
    one = episode(group, "e1")
    worded = entity(group, "Zürich Insurance", type="Company")
    near = entity(group, "Alpine Mutual")
    far = entity(group, "Unrelated")
    await store.receive(one, None, 4, AT)
    writes = [EntityWrite(worded, axis(50)), EntityWrite(near, axis(10)), EntityWrite(far, axis(200))]
    await store.commit_entities(entity_commit(one, 0, *writes))
    foreign = group + "-other"
    twin = entity(foreign, "Zurich Insurance")
    other = episode(foreign, "e1")
    await store.receive(other, None, 4, AT)
    await store.commit_entities(entity_commit(other, 0, EntityWrite(twin, axis(10))))

    query = entity_query(
        one,
        "x",
        "y",
        "z",
        texts=("zurich insurance", "", ""),
        vectors=(axis(10, 0.1), axis(10), None),
        limit=2,
    )
    similar = (await store.entity_view(query)).similar
    assert {e.id for e in similar[0]} == {worded.id, near.id}
    assert similar[1][0].id == near.id
    assert similar[2] == ()
    assert all(e.group_id == group for found in similar for e in found)
    assert all(len(found) <= 2 for found in similar)


async def test_types_become_labels_and_never_statements(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    entities = [entity(group, f"n{i}", type=name) for i, name in enumerate(HOSTILE)]
    await stored(store, episode(group, "e1"), *entities)
    rows = await cypher(
        bolt_uri,
        "MATCH (e:Entity {group_id: $group}) RETURN e.name, coalesce(e.fs_full_type, e.fs_type), [l IN labels(e) WHERE l <> 'Entity']",
        group=group,
    )
    labels = {name: (kind, some) for name, kind, some in rows}
    assert [labels[f"n{i}"][0] for i in range(len(HOSTILE))] == HOSTILE
    assert labels["n0"][1] == [HOSTILE[0]]
    assert labels["n2"][1] == ["Tiny"]
    assert labels["n5"][1] == ["人"]
    assert [labels[f"n{i}"][1] for i in (3, 6, 7, 8)] == [[], [], [], []]


async def test_texts_of_any_length_are_kept(store: Neo4jGraphStore, group: str) -> None:
    one, long = episode(group, "e1"), "ж" * 40_000
    ana, bob = entity(group, "Ana " + long, type=long), entity(group, "Bob")
    await stored(store, one, ana, bob)
    knows = fact(group, ana, long, bob)
    await store.commit_facts(fact_commit(one, 0, knows, evidence=(evidence(1, ana, long, bob),)))
    graph = await store.fact_graph(FactQuery(one.ref, (Triplet(ana.id, long, bob.id, True),), (ana.id,)))
    assert (graph.facts, graph.entities) == ((knows,), {ana.id: ana, bob.id: bob})
    view = await store.entity_view(entity_query(one, ana.name, texts=(long,), vectors=(axis(0),)))
    assert view.by_key == ((ana,),)


async def test_a_new_type_replaces_the_old_label(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    ana = entity(group, "Ana", type="Person")
    await stored(store, episode(group, "e1"), ana)
    await stored(store, episode(group, "e2"), ana.model_copy(update={"type": "Robot"}))
    query = "MATCH (e:Entity {group_id: $group}) RETURN labels(e)"
    assert await cypher(bolt_uri, query, group=group) == [[["Entity", "Robot"]]]


async def test_an_entity_keeps_its_vector_and_creation_when_none_is_given(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    ana = entity(group, "Ana")
    await stored(store, one, ana)
    await store.receive(two, None, 0, AT)
    later = ana.model_copy(update={"created_at": AT + timedelta(days=9), "summary": "new"})
    await store.commit_entities(entity_commit(two, 1, EntityWrite(later)))
    query = "MATCH (e:Entity {group_id: $group}) RETURN e.name_embedding[0], e.created_at, e.summary"
    (value, created, summary) = (await cypher(bolt_uri, query, group=group))[0]
    assert (value, created.to_native(), summary) == (1.0, AT, "new")


async def test_two_stages_that_write_one_entity_keep_each_others_part(
    store: Neo4jGraphStore, group: str
) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    ana = entity(group, "Ana", description="A doctor.", summary="A doctor.")
    await stored(store, one, ana)
    await store.receive(two, None, 0, AT)
    line = SummaryLine(fact_id="f", text="Ana lives in Lima.")
    told = ana.model_copy(update={"lines": (line,), "summary": "A doctor. Ana lives in Lima."})
    named = ana.model_copy(update={"aliases": ("Annie",), "keys": ("ana", "annie")})
    # Both have read the entity before either commits.
    await store.commit_entities(entity_commit(two, 1, EntityWrite(named)))
    await store.commit_facts(fact_commit(one, 0, entities=(EntityWrite(told),)))
    expected = named.model_copy(update={"lines": (line,), "summary": "A doctor. Ana lives in Lima."})
    assert (await entities_by_id(store, one, ana.id))[ana.id] == expected
    three = episode(group, "e3")
    await store.receive(three, None, 0, AT)
    await store.commit_entities(entity_commit(three, 2, EntityWrite(named)))
    assert (await entities_by_id(store, one, ana.id))[ana.id] == expected


async def test_mentions_lead_from_the_episode_to_its_entities(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    await stored(store, episode(group, "e1"), entity(group, "Ana"), entity(group, "Bob"))
    query = (
        "MATCH (p:Episodic {group_id: $group})-[m:MENTIONS {group_id: $group}]->(e:Entity) "
        "RETURN p.uuid, e.name, m.created_at ORDER BY e.name"
    )
    rows = await cypher(bolt_uri, query, group=group)
    assert [(p, e, at.to_native()) for p, e, at in rows] == [("e1", "Ana", AT), ("e1", "Bob", AT)]


async def test_evidence_is_found_by_triplet_and_by_whole_slot(store: Neo4jGraphStore, group: str) -> None:
    one = episode(group, "e1")
    ana, acme, beta = entity(group, "Ana"), entity(group, "Acme"), entity(group, "Beta")
    await stored(store, one, ana, acme, beta)
    at_acme = evidence(
        1, ana, "WORKS_AT", acme, cardinality=Cardinality.one, valid_at=AT, attributes={"x": [1]}
    )
    at_beta = evidence(2, ana, "WORKS_AT", beta, cardinality=Cardinality.one)
    also_beta = evidence(3, ana, "WORKS_AT", beta)
    likes = evidence(4, ana, "LIKES", acme)
    facts = [
        fact(group, ana, "WORKS_AT", acme),
        fact(group, ana, "WORKS_AT", beta),
        fact(group, ana, "LIKES", acme),
    ]
    commit = fact_commit(one, 0, *facts, evidence=(at_acme, at_beta, also_beta, likes))
    await store.commit_facts(commit)

    def asked(whole_slot: bool) -> FactQuery:
        return FactQuery(one.ref, (Triplet(ana.id, "WORKS_AT", acme.id, whole_slot),), (ana.id,))

    narrow = await store.fact_graph(asked(False))
    assert narrow.evidence == (at_acme,)
    assert narrow.facts == (facts[0],)
    wide = await store.fact_graph(asked(True))
    assert wide.evidence == (at_acme, at_beta, also_beta)
    assert {f.id for f in wide.facts} == {facts[0].id, facts[1].id}
    assert wide.entities == {e.id: e for e in (ana, acme, beta)}
    assert (wide.mark, wide.lane_version) == (Mark("changes e1"), 1)
    assert await store.fact_graph(FactQuery(episode(group, "e9").ref, (), ())) == type(wide)(None, 1)


async def test_a_fact_bears_its_current_belief_and_its_history(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    ana, acme = entity(group, "Ana"), entity(group, "Acme")
    await stored(store, one, ana, acme)
    await store.receive(two, None, 0, AT)
    start, end, later = AT - timedelta(days=30), AT + timedelta(days=1), AT + timedelta(days=2)
    believed = fact(
        group, ana, "WORKS_AT", acme, Belief(known_from=AT, valid_at=start), attributes={"n": {"m": 1.0}}
    )
    await store.commit_facts(fact_commit(one, 0, believed))
    query = (
        "MATCH (:Entity {name: 'Ana'})-[r:RELATES_TO {group_id: $group}]->(:Entity {name: 'Acme'}) RETURN "
        "r.fs_valid_from, r.fs_valid_to, r.fs_belief_from, r.fs_belief_valid, r.fs_belief_invalid, r.expired_at, "
        "r.fact_embedding[0], r.fs_scope, r.name, r.episodes, r.fs_revision"
    )
    scope = scope_token(group)
    rows = await cypher(bolt_uri, query, group=group)
    valid_from = micros(start)
    assert rows == [
        [
            valid_from,
            UNBOUNDED_FUTURE,
            [micros(AT)],
            [valid_from],
            [UNBOUNDED_FUTURE],
            None,
            1.0,
            f"{scope} {scope}n",
            "WORKS_AT",
            ["e1"],
            1,
        ]
    ]
    beliefs = (
        *believed.beliefs,
        Belief(known_from=end, valid_at=start, invalid_at=end),
        Belief(known_from=later, holds=False),
    )
    gone = believed.model_copy(update={"beliefs": beliefs, "revision": 2})
    await store.commit_facts(fact_commit(two, 1, at=later, facts=(FactWrite(gone),)))
    row = (await cypher(bolt_uri, query, group=group))[0]
    assert row[:2] == [UNBOUNDED_FUTURE, UNBOUNDED_PAST]
    assert row[2] == [micros(AT), micros(end), micros(later)]
    assert row[3] == [valid_from, valid_from, UNBOUNDED_FUTURE]
    assert row[4] == [UNBOUNDED_FUTURE, micros(end), UNBOUNDED_PAST]
    assert row[5].to_native() == later
    assert row[6:8] == [1.0, scope]
    # Without evidence a triplet is not among the facts that the query answers; the edge is there all the same.
    assert await cypher(bolt_uri, "MATCH ()-[r:RELATES_TO {group_id: $g}]->() RETURN count(r)", g=group) == [
        [1]
    ]


async def test_a_fact_of_an_entity_with_itself(store: Neo4jGraphStore, group: str) -> None:
    one = episode(group, "e1")
    ana = entity(group, "Ana")
    await stored(store, one, ana)
    quits = fact(group, ana, "QUIT", ana)
    await store.commit_facts(fact_commit(one, 0, quits, evidence=(evidence(1, ana, "QUIT", ana),)))
    query = FactQuery(one.ref, (Triplet(ana.id, "QUIT", ana.id, True),), ())
    assert (await store.fact_graph(query)).facts == (quits,)


async def test_a_fact_about_an_unknown_entity_is_poison_and_leaves_nothing(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one = episode(group, "e1")
    ana = entity(group, "Ana")
    await stored(store, one, ana)
    ghost = fact(group, ana, "KNOWS", entity(group, "Ghost"))
    with pytest.raises(Poison):
        await store.commit_facts(fact_commit(one, 0, ghost, evidence=(evidence(1, ana, "KNOWS", ana),)))
    assert await cypher(bolt_uri, "MATCH (v:Evidence {group_id: $g}) RETURN count(v)", g=group) == [[0]]
    graph = await store.fact_graph(FactQuery(one.ref, (), ()))
    assert (graph.mark, graph.lane_version) == (None, 0)
    with pytest.raises(Poison):
        await store.commit_entities(entity_commit(episode(group, "e2"), 1, mentioned=("nobody",)))


async def test_the_state_and_the_cost_follow_the_stages(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one = episode(group, "e1")
    ana = entity(group, "Ana")
    await store.receive(one, None, 0, AT)
    await store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "x", Usage(llm_calls=3)))
    assert (await _episode(bolt_uri, group))[0] == "extracted"
    await store.commit_entities(entity_commit(one, 0, EntityWrite(ana, axis(0))))
    assert await _episode(bolt_uri, group) == ("resolved", Usage(llm_calls=4), None)
    # The output of the stage before is dropped, its mark stays.
    assert (await store.receive(one, None, 0, AT)).mark == Mark(None)
    await store.settle(one.ref)
    assert (await _episode(bolt_uri, group))[0] == "resolved"
    await store.commit_facts(fact_commit(one, 0, usage=Usage(embeddings=2)))
    assert (await _episode(bolt_uri, group))[0] == "resolved"
    for _ in range(2):
        await store.settle(one.ref)
    assert await _episode(bolt_uri, group) == ("committed", Usage(llm_calls=4, embeddings=2), None)
    assert (await store.entity_view(entity_query(one))).mark == Mark(None)
    await store.commit_communities(CommunityCommit(group, one.ref, 0, (), {}, Usage(embeddings=1), AT))
    assert await _episode(bolt_uri, group) == ("committed", Usage(llm_calls=4, embeddings=3), None)
    assert (await store.fact_graph(FactQuery(one.ref, (), ()))).mark == Mark(None)
    assert (await store.community_graph(CommunityQuery(one.ref, ()))).mark == Mark(None)


async def test_dead_episodes_and_their_way_back(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one = episode(group, "e1")
    await store.mark_dead(group, "e1", "not there yet")
    await store.receive(one, None, 0, AT)
    await store.mark_dead(group, "e1", "why")
    assert await _episode(bolt_uri, group) == ("dead", Usage(), "why")
    await store.receive(one, None, 0, AT)
    assert await _episode(bolt_uri, group) == ("received", Usage(), None)
    await store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "x", Usage()))
    await store.mark_dead(group, "e1", "again")
    await store.receive(one, None, 0, AT)
    assert (await _episode(bolt_uri, group))[0] == "dead"
    await store.revive(group, "e1")
    assert await _episode(bolt_uri, group) == ("extracted", Usage(), None)
    await store.commit_entities(entity_commit(one, 0))
    await store.mark_dead(group, "e1", "again")
    await store.revive(group, "e1")
    assert (await _episode(bolt_uri, group))[0] == "resolved"
    await store.commit_facts(fact_commit(one, 0))
    await store.settle(one.ref)
    await store.mark_dead(group, "e1", "too late")
    await store.revive(group, "e1")
    assert (await _episode(bolt_uri, group))[0] == "committed"


async def test_neighbourhoods_count_current_facts_only(store: Neo4jGraphStore, group: str) -> None:
    one = episode(group, "e1")
    ana, bob, eve, old = (entity(group, name) for name in ("Ana", "Bob", "Eve", "Old"))
    await stored(store, one, ana, bob, eve, old)
    ended = Belief(known_from=AT, valid_at=AT - timedelta(days=9), invalid_at=AT)
    facts = [
        fact(group, ana, "KNOWS", bob),
        fact(group, bob, "LIKES", ana),
        fact(group, ana, "KNOWS", eve),
        fact(group, ana, "KNOWS", old, ended),
        fact(group, ana, "LEFT", old, Belief(known_from=AT, holds=False)),
        fact(group, ana, "IS", ana),
    ]
    await store.commit_facts(fact_commit(one, 0, *facts))
    graph = await store.community_graph(CommunityQuery(one.ref, (ana.id, "nobody")))
    assert list(graph.neighbourhoods) == [ana.id]
    assert graph.neighbourhoods[ana.id].neighbours == {bob.id: (2, None), eve.id: (1, None)}
    narrow = await store.community_graph(CommunityQuery(one.ref, (ana.id,), neighbour_limit=1))
    assert list(narrow.neighbourhoods[ana.id].neighbours) == [bob.id]
    whole = await store.group_graph(group)
    assert {e.id for e in whole.entities} == {ana.id, bob.id, eve.id, old.id}
    pairs = {(*sorted((ana.id, bob.id)), 2), (*sorted((ana.id, eve.id)), 1)}
    assert set(whole.edges) == pairs
    assert whole.lane_version == 0


async def test_communities_gain_and_lose_members(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    await stored(store, one, ana, bob)
    await store.commit_facts(fact_commit(one, 0, fact(group, ana, "KNOWS", bob)))
    red, blue = _community(group, "red"), _community(group, "blue")
    await store.commit_communities(
        CommunityCommit(
            group, one.ref, 0, (CommunityWrite(red, axis(1)),), {ana.id: "red", bob.id: "red"}, Usage(), AT
        )
    )
    graph = await store.community_graph(CommunityQuery(two.ref, (ana.id,)))
    assert graph.lane_version == 1
    assert graph.neighbourhoods[ana.id].entity.community_id == "red"
    assert graph.neighbourhoods[ana.id].neighbours == {bob.id: (1, "red")}
    assert {e.id for e in graph.members["red"]} == {ana.id, bob.id}
    assert graph.communities["red"].name == "red"
    assert set(graph.communities["red"].members) == {ana.id, bob.id}
    one_each = await store.community_graph(CommunityQuery(two.ref, (ana.id,), member_limit=1))
    assert len(one_each.members["red"]) == 1
    # An episode that moves all of a community's members removes it.
    move = {ana.id: "blue", bob.id: "blue"}
    await store.commit_communities(
        CommunityCommit(group, two.ref, 1, (CommunityWrite(blue, axis(2)),), move, Usage(), AT)
    )
    assert await _members(bolt_uri, group) == [["blue", "Ana"], ["blue", "Bob"]]
    assert await cypher(bolt_uri, "MATCH (c:Community {group_id: $g}) RETURN c.uuid", g=group) == [["blue"]]
    # What later commits of resolve_entities write does not touch the community.
    await stored(store, two, ana)
    assert (await entities_by_id(store, two, ana.id))[ana.id].community_id == "blue"


async def test_a_rebuild_swaps_all_communities(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one = episode(group, "e1")
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    await stored(store, one, ana, bob)
    red, blue = _community(group, "red"), _community(group, "blue")
    writes = (CommunityWrite(red), CommunityWrite(blue))
    await store.commit_communities(
        CommunityCommit(group, None, 0, writes, {ana.id: "red", bob.id: "blue"}, Usage(), AT)
    )
    assert await _members(bolt_uri, group) == [["blue", "Bob"], ["red", "Ana"]]
    await store.commit_communities(
        CommunityCommit(group, None, 1, (CommunityWrite(blue),), {ana.id: "blue"}, Usage(), AT)
    )
    assert await _members(bolt_uri, group) == [["blue", "Ana"], ["blue", "Bob"]]
    await store.commit_communities(CommunityCommit(group, None, 2, (), {}, Usage(), AT))
    assert await cypher(bolt_uri, "MATCH (c:Community {group_id: $g}) RETURN c.uuid", g=group) == []
    found = await entities_by_id(store, one, ana.id, bob.id)
    assert {e.community_id for e in found.values()} == {None}
    assert (await store.group_graph(group)).lane_version == 3


async def test_a_move_into_no_community_that_exists_is_poison(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    ana = entity(group, "Ana")
    await stored(store, episode(group, "e1"), ana)
    with pytest.raises(Poison):
        await store.commit_communities(CommunityCommit(group, None, 0, (), {ana.id: "none"}, Usage(), AT))
    assert (await store.group_graph(group)).lane_version == 0


async def test_tenants_with_the_same_ids_stay_apart(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    other = f"{group}`}}) DETACH DELETE n // 😀"
    for tenant in (group, other):
        one = episode(tenant, "same", thread_id="t", content=tenant)
        ana = entity(tenant, "Ana", id="ana", description=tenant, summary=tenant)
        acme = entity(tenant, "Acme", id="acme")
        await stored(store, one, ana, acme)
        works = fact(tenant, ana, "WORKS_AT", acme, id="fact", fact=tenant)
        proof = evidence(1, ana, "WORKS_AT", acme, fact=tenant)
        await store.commit_facts(fact_commit(one, 0, works, evidence=(proof,)))
        team = _community(tenant, "team")
        await store.commit_communities(
            CommunityCommit(tenant, one.ref, 0, (CommunityWrite(team),), {"ana": "team"}, Usage(), AT)
        )
    for tenant in (group, other):
        query = FactQuery(episode(tenant, "next").ref, (Triplet("ana", "WORKS_AT", "acme", True),), ("ana",))
        graph = await store.fact_graph(query)
        assert [f.fact for f in graph.facts] == [e.fact for e in graph.evidence] == [tenant]
        assert graph.entities["ana"].summary == tenant
        again = await store.receive(episode(tenant, "next", thread_id="t", sequence=2), None, 4, AT)
        assert [e.content for e in again.context] == [tenant]
        view = await store.entity_view(entity_query(episode(tenant, "next"), "Ana"))
        assert [e.summary for e in view.by_key[0]] == [tenant]
        assert {e.group_id for e in (await store.group_graph(tenant)).entities} == {tenant}


async def test_requests_do_not_grow_with_the_episode(bolt_uri: str, group: str) -> None:
    observer = CountingObserver()
    async with opened(bolt_uri, observer) as store:
        counts: list[list[str]] = []
        for size, name in ((1, "small"), (40, "large")):
            one = episode(group + name, name)
            entities = [entity(one.group_id, f"{name} {i}") for i in range(size)]
            facts = [fact(one.group_id, entities[0], f"R{i}", e) for i, e in enumerate(entities)]
            proofs = [evidence(i, entities[0], f"R{i}", e) for i, e in enumerate(entities)]
            observer.requests.clear()
            await store.receive(one, None, 4, AT)
            await store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "x", Usage()))
            names = [e.name for e in entities]
            texts, vectors = tuple(names), tuple(axis(i) for i in range(size))
            await store.entity_view(entity_query(one, *names, texts=texts, vectors=vectors))
            writes = [EntityWrite(e, axis(i)) for i, e in enumerate(entities)]
            await store.commit_entities(entity_commit(one, 0, *writes))
            triplets = tuple(Triplet(p.subject, p.relation, p.object, True) for p in proofs)
            await store.fact_graph(FactQuery(one.ref, triplets, tuple(e.id for e in entities)))
            await store.commit_facts(fact_commit(one, 0, *facts, evidence=tuple(proofs)))
            await store.community_graph(CommunityQuery(one.ref, tuple(e.id for e in entities)))
            moves: dict[str, str | None] = {e.id: "c" for e in entities}
            writing = (CommunityWrite(_community(one.group_id, "c")),)
            await store.commit_communities(
                CommunityCommit(one.group_id, one.ref, 0, writing, moves, Usage(), AT)
            )
            counts.append(list(observer.requests))
    assert counts[0] == counts[1]
    assert len(counts[0]) == 8


def _community(group: str, name: str) -> Community:
    return Community(id=name, group_id=group, name=name, summary=f"about {name}", created_at=AT)


async def _members(uri: str, group: str) -> list[list[Any]]:
    query = (
        "MATCH (c:Community {group_id: $g})-[:HAS_MEMBER {group_id: $g}]->(e:Entity {fs_community: c.uuid}) "
        "RETURN c.uuid, e.name ORDER BY c.uuid, e.name"
    )
    return await cypher(uri, query, g=group)


async def _episode(uri: str, group: str) -> tuple[str, Usage, str | None]:
    query = "MATCH (p:Episodic {group_id: $g}) RETURN p.fs_state, p.fs_usage, p.fs_reason"
    state, usage, reason = (await cypher(uri, query, g=group))[0]
    return state, Usage.model_validate_json(usage), reason
