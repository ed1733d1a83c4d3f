"""The Neo4j store as a whole: how it opens, tenants that stay apart, and how many requests an episode takes."""

from __future__ import annotations

import pytest

from pipeline.errors import Retryable, SettingError
from pipeline.graph.community_port import CommunityCommit, CommunityQuery, CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.fact_port import FactQuery, Triplet
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.episode import EpisodeState, Usage
from tests.integration.graph.neo4j_write_kit import (
    AT,
    CountingObserver,
    axis,
    community,
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
        team = community(tenant, "team")
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
            writing = (CommunityWrite(community(one.group_id, "c")),)
            await store.commit_communities(
                CommunityCommit(one.group_id, one.ref, 0, writing, moves, Usage(), AT)
            )
            counts.append(list(observer.requests))
    assert counts[0] == counts[1]
    assert len(counts[0]) == 8
