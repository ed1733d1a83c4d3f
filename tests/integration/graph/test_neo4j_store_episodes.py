"""What the Neo4j store writes of an episode, of its state and its cost, and reads back."""

from __future__ import annotations

from datetime import timedelta

from pipeline.graph.community_port import CommunityCommit, CommunityQuery
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.fact_port import FactQuery
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j.codec import micros, scope_token
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.episode import EpisodeState, Source, Usage
from tests.integration.graph.neo4j_write_kit import (
    AT,
    axis,
    cypher,
    entity,
    entity_commit,
    entity_query,
    episode,
    episode_row,
    fact_commit,
)


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
    assert await episode_row(bolt_uri, group) == (
        "extracted",
        Usage(llm_calls=2, prompt_tokens=10),
        None,
    )


async def test_the_state_and_the_cost_follow_the_stages(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one = episode(group, "e1")
    ana = entity(group, "Ana")
    await store.receive(one, None, 0, AT)
    await store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "x", Usage(llm_calls=3)))
    assert (await episode_row(bolt_uri, group))[0] == "extracted"
    await store.commit_entities(entity_commit(one, 0, EntityWrite(ana, axis(0))))
    assert await episode_row(bolt_uri, group) == ("resolved", Usage(llm_calls=4), None)
    # The output of the stage before is dropped, its mark stays.
    assert (await store.receive(one, None, 0, AT)).mark == Mark(None)
    await store.settle(one.ref)
    assert (await episode_row(bolt_uri, group))[0] == "resolved"
    await store.commit_facts(fact_commit(one, 0, usage=Usage(embeddings=2)))
    assert (await episode_row(bolt_uri, group))[0] == "resolved"
    for _ in range(2):
        await store.settle(one.ref)
    assert await episode_row(bolt_uri, group) == ("committed", Usage(llm_calls=4, embeddings=2), None)
    assert (await store.entity_view(entity_query(one))).mark == Mark(None)
    await store.commit_communities(CommunityCommit(group, one.ref, 0, (), {}, Usage(embeddings=1), AT))
    assert await episode_row(bolt_uri, group) == ("committed", Usage(llm_calls=4, embeddings=3), None)
    assert (await store.fact_graph(FactQuery(one.ref, (), ()))).mark == Mark(None)
    assert (await store.community_graph(CommunityQuery(one.ref, ()))).mark == Mark(None)


async def test_dead_episodes_and_their_way_back(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one = episode(group, "e1")
    await store.mark_dead(group, "e1", "not there yet")
    await store.receive(one, None, 0, AT)
    await store.mark_dead(group, "e1", "why")
    assert await episode_row(bolt_uri, group) == ("dead", Usage(), "why")
    await store.receive(one, None, 0, AT)
    assert await episode_row(bolt_uri, group) == ("received", Usage(), None)
    await store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "x", Usage()))
    await store.mark_dead(group, "e1", "again")
    await store.receive(one, None, 0, AT)
    assert (await episode_row(bolt_uri, group))[0] == "dead"
    await store.revive(group, "e1")
    assert await episode_row(bolt_uri, group) == ("extracted", Usage(), None)
    await store.commit_entities(entity_commit(one, 0))
    await store.mark_dead(group, "e1", "again")
    await store.revive(group, "e1")
    assert (await episode_row(bolt_uri, group))[0] == "resolved"
    await store.commit_facts(fact_commit(one, 0))
    await store.settle(one.ref)
    await store.mark_dead(group, "e1", "too late")
    await store.revive(group, "e1")
    assert (await episode_row(bolt_uri, group))[0] == "committed"
