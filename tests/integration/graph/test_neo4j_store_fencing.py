"""The Neo4j store under contention: one commit per version wins, the others leave no trace."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from pipeline.errors import Fenced, Retryable
from pipeline.graph.community_port import CommunityCommit, CommunityQuery, CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.fact_port import FactQuery
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.community import Community
from pipeline.model.episode import EpisodeState, Usage
from tests.integration.graph.neo4j_write_kit import (
    AT,
    DIMENSION,
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
    stored,
)

WORKERS = 10
EVERYTHING = """
MATCH (n) WHERE n.group_id = $group AND NOT n:Lane
OPTIONAL MATCH (n)-[r]->()
RETURN count(DISTINCT n), count(DISTINCT r), collect(DISTINCT n.name), collect(DISTINCT n.summary)
"""


async def test_a_second_commit_of_one_version_changes_nothing(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    await stored(store, one, ana, bob)
    await store.receive(two, None, 0, AT)
    await store.commit_facts(fact_commit(one, 0, fact(group, ana, "KNOWS", bob)))
    red = Community(id="red", group_id=group, name="red", summary="", created_at=AT)
    await store.commit_communities(
        CommunityCommit(group, one.ref, 0, (CommunityWrite(red),), {ana.id: "red"}, Usage(), AT)
    )
    before = await cypher(bolt_uri, EVERYTHING, group=group)
    changed = EntityWrite(ana.model_copy(update={"summary": "changed"}))
    refused: list[Callable[[], Awaitable[None]]] = [
        lambda: store.commit_entities(entity_commit(two, 0, changed, EntityWrite(entity(group, "Eve")))),
        lambda: store.commit_facts(
            fact_commit(
                two,
                0,
                fact(group, bob, "LIKES", ana),
                evidence=(evidence(1, bob, "LIKES", ana),),
                entities=(changed,),
            )
        ),
        lambda: store.commit_communities(CommunityCommit(group, two.ref, 0, (), {ana.id: None}, Usage(), AT)),
        lambda: store.commit_communities(CommunityCommit(group, None, 0, (), {}, Usage(), AT)),
    ]
    for commit in refused:
        with pytest.raises(Fenced):
            await commit()
    assert await cypher(bolt_uri, EVERYTHING, group=group) == before
    assert (await store.entity_view(entity_query(two))).lane_version == 1
    assert (await store.fact_graph(FactQuery(two.ref, (), ()))).lane_version == 1
    assert (await store.community_graph(CommunityQuery(two.ref, ()))).lane_version == 1


async def test_an_episode_that_bears_the_mark_is_not_committed_twice(
    store: Neo4jGraphStore, group: str
) -> None:
    one = episode(group, "e1")
    ana = entity(group, "Ana")
    await stored(store, one, ana)
    assert (await store.entity_view(entity_query(one))).mark == Mark("resolved e1")
    changed = EntityWrite(ana.model_copy(update={"summary": "changed"}))
    for version in (0, 1):
        with pytest.raises(Fenced):
            await store.commit_entities(entity_commit(one, version, changed))
    assert (await entities_by_id(store, one, ana.id))[ana.id] == ana
    assert (await store.entity_view(entity_query(one))).lane_version == 1


async def test_of_parallel_commits_exactly_one_wins_each_version(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    ana = entity(group, "Ana")
    await stored(store, episode(group, "e0"), ana)

    async def attempt(version: int, number: int) -> str | None:
        mine = episode(group, f"e{version}-{number}")
        write = EntityWrite(ana.model_copy(update={"summary": mine.id}))
        try:
            await store.commit_entities(entity_commit(mine, version, write, mentioned=()))
        except Fenced:
            return None
        return mine.id

    for version in range(1, 4):
        results = await asyncio.gather(*(attempt(version, number) for number in range(WORKERS)))
        winners = [name for name in results if name]
        assert len(winners) == 1
        query = "MATCH (e:Entity {group_id: $g}) RETURN e.summary"
        assert await cypher(bolt_uri, query, g=group) == [winners]
    assert (await store.entity_view(entity_query(episode(group, "e")))).lane_version == 4
    marks = "MATCH (m:StageMark {group_id: $g}) RETURN count(m)"
    assert await cypher(bolt_uri, marks, g=group) == [[4]]


async def test_the_first_commit_ever_of_a_lane_is_won_once(store: Neo4jGraphStore, group: str) -> None:
    async def attempt(number: int) -> bool:
        try:
            await store.commit_facts(fact_commit(episode(group, f"e{number}"), 0))
        except Fenced:
            return False
        return True

    results = await asyncio.gather(*(attempt(number) for number in range(WORKERS)))
    assert results.count(True) == 1


async def test_parallel_repeats_of_one_episode_are_one(
    store: Neo4jGraphStore, group: str, bolt_uri: str
) -> None:
    await asyncio.gather(
        *(store.receive(episode(group, "e", content=str(n)), axis(n), 4, AT) for n in range(WORKERS))
    )
    assert await cypher(bolt_uri, "MATCH (p:Episodic {group_id: $g}) RETURN count(p)", g=group) == [[1]]
    ref = episode(group, "e").ref
    marks = await asyncio.gather(
        *(
            store.commit_extraction(ExtractionCommit(ref, EpisodeState.extracted, str(n), Usage(llm_calls=1)))
            for n in range(WORKERS)
        )
    )
    assert len(set(marks)) == 1
    query = "MATCH (p:Episodic {group_id: $g}) RETURN p.fs_usage"
    usage = Usage.model_validate_json((await cypher(bolt_uri, query, g=group))[0][0])
    assert usage.llm_calls == 1


async def test_the_stages_of_a_group_commit_side_by_side(store: Neo4jGraphStore, group: str) -> None:
    """Two stages write the same entities at once; a deadlock may cost a repeat but no update is lost."""
    people = [entity(group, f"P{n}") for n in range(6)]
    await stored(store, episode(group, "e0"), *people)
    rounds = 6

    async def persistent(commit: Callable[[], Awaitable[None]]) -> None:
        for _ in range(50):
            try:
                return await commit()
            except Retryable:
                continue
        raise AssertionError("a commit never came through")

    async def resolve() -> None:
        for n in range(rounds):
            writes = [EntityWrite(p.model_copy(update={"description": f"d{n}"})) for p in people]
            commit = entity_commit(episode(group, f"r{n}"), 1 + n, *writes, mentioned=())
            await persistent(lambda commit=commit: store.commit_entities(commit))  # type: ignore[misc]

    async def believe() -> None:
        for n in range(rounds):
            known = [fact(group, a, f"R{n}", b) for a, b in zip(people, reversed(people), strict=True)]
            commit = fact_commit(episode(group, f"r{n}"), n, *known, entities=tuple(map(EntityWrite, people)))
            await persistent(lambda commit=commit: store.commit_facts(commit))  # type: ignore[misc]

    await asyncio.gather(resolve(), believe())
    found = await entities_by_id(store, episode(group, "e0"), *(p.id for p in people))
    assert {e.description for e in found.values()} == {f"d{rounds - 1}"}
    assert sum(weight for _, _, weight in (await store.group_graph(group)).edges) == rounds * len(people)


async def test_several_stores_open_at_once(bolt_uri: str) -> None:
    stores = [Neo4jGraphStore(bolt_uri, dimension=DIMENSION) for _ in range(5)]
    try:
        await asyncio.gather(*(s.open() for s in stores))
        await asyncio.gather(*(s.ping() for s in stores))
    finally:
        await asyncio.gather(*(s.close() for s in stores))
