"""Commits: marks with what was sent on, fencing by lane, all or nothing, cost and state."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.errors import Fenced, SettingError
from pipeline.graph.community_port import CommunityCommit, CommunityGraph, CommunityQuery, CommunityWrite
from pipeline.graph.entity_port import EntityCommit, EntityView, EntityWrite
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.fact_port import FactCommit, FactGraph, FactQuery, FactWrite, Triplet
from pipeline.graph.mark import Mark
from pipeline.model.episode import Episode, EpisodeState, Usage
from tests.contract.kit import Graph, community, day, entity, entity_query, episode, evidence, fact, vector


async def _entity_view(graph: Graph, of: Episode) -> EntityView:
    return await graph.store.entity_view(entity_query(of, "Ana"))


async def _fact_graph(graph: Graph, of: Episode) -> FactGraph:
    return await graph.store.fact_graph(
        FactQuery(of.ref, (Triplet("ana", "KNOWS", "bob", False),), ("ana", "bob"))
    )


async def _community_graph(graph: Graph, of: Episode) -> CommunityGraph:
    return await graph.store.community_graph(CommunityQuery(of.ref, ("ana",)))


async def _extract_mark(graph: Graph, of: Episode) -> Mark | None:
    return (await graph.store.receive(of, None, 0, day(1))).mark


async def test_the_first_extraction_stands(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    assert await _extract_mark(graph, one) is None
    first = ExtractionCommit(one.ref, EpisodeState.extracted, '{"a": "ü"}', Usage(llm_calls=1))
    second = ExtractionCommit(one.ref, EpisodeState.extracted, '{"b": 2}', Usage(llm_calls=1))
    assert await graph.store.commit_extraction(first) == Mark('{"a": "ü"}')
    assert await graph.store.commit_extraction(second) == Mark('{"a": "ü"}')
    assert await _extract_mark(graph, one) == Mark('{"a": "ü"}')
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert (read.state, read.usage) == (EpisodeState.extracted, Usage(llm_calls=1))


async def test_an_output_is_kept_until_the_next_stage_has_its_mark(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    for each in (one, two):
        await graph.store.commit_extraction(ExtractionCommit(each.ref, EpisodeState.extracted, "x", Usage()))
    assert (await _entity_view(graph, one)).mark is None

    await graph.entities(one, entity(group, "Ana"), entity(group, "Bob"), output="y")
    assert (await _entity_view(graph, one)).mark == Mark("y")
    assert await _extract_mark(graph, one) == Mark(None)
    assert await _extract_mark(graph, two) == Mark("x")
    assert (await _fact_graph(graph, one)).mark is None

    await graph.facts(one, output="z")
    assert (await _fact_graph(graph, one)).mark == Mark("z")
    assert (await _entity_view(graph, one)).mark == Mark(None)
    assert (await _community_graph(graph, one)).mark is None

    await graph.communities(group, one, moves={})
    assert (await _community_graph(graph, one)).mark == Mark(None)
    assert (await _fact_graph(graph, one)).mark == Mark(None)
    assert (await _entity_view(graph, two)).mark is None


async def test_state_and_cost_follow_the_stages(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)

    async def stands(state: EpisodeState, usage: Usage) -> None:
        read = await graph.reader.episode(group, "e1")
        assert read is not None
        assert (read.state, read.usage) == (state, usage)

    await graph.store.commit_extraction(
        ExtractionCommit(
            one.ref, EpisodeState.extracted, "x", Usage(llm_calls=1, prompt_tokens=10, cached_tokens=4)
        )
    )
    await stands(EpisodeState.extracted, Usage(llm_calls=1, prompt_tokens=10, cached_tokens=4))
    await graph.entities(one, entity(group, "Ana"), usage=Usage(embeddings=3))
    await stands(EpisodeState.resolved, Usage(llm_calls=1, prompt_tokens=10, cached_tokens=4, embeddings=3))
    await graph.facts(one, usage=Usage(llm_calls=1, completion_tokens=5))
    cost = Usage(llm_calls=2, prompt_tokens=10, cached_tokens=4, completion_tokens=5, embeddings=3)
    await stands(EpisodeState.resolved, cost)
    await graph.store.settle(one.ref)
    await stands(EpisodeState.committed, cost)
    await graph.communities(group, one, moves={}, usage=Usage(embeddings=1))
    await stands(EpisodeState.committed, cost + Usage(embeddings=1))


async def test_only_an_episode_whose_facts_are_committed_settles(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.store.settle(one.ref)
    await graph.receive(one)
    await graph.entities(one, entity(group, "Ana"))

    async def settled() -> EpisodeState:
        await graph.store.settle(one.ref)
        read = await graph.reader.episode(group, "e1")
        assert read is not None
        return read.state

    assert await settled() is EpisodeState.resolved
    await graph.facts(one, output="z", usage=Usage(llm_calls=1))
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert read.state is EpisodeState.resolved
    assert await settled() is EpisodeState.committed
    assert await settled() is EpisodeState.committed
    facts = await _fact_graph(graph, one)
    assert (facts.mark, facts.lane_version) == (Mark("z"), 1)
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert read.usage == Usage(llm_calls=1)


async def test_nothing_to_extract_is_a_state_of_its_own(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    skipped = ExtractionCommit(one.ref, EpisodeState.skipped, None, Usage(llm_calls=1))
    assert await graph.store.commit_extraction(skipped) == Mark(None)
    assert await _extract_mark(graph, one) == Mark(None)
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert read.state is EpisodeState.skipped


async def test_every_commit_raises_its_own_lane_by_one(graph: Graph, group: str, other_group: str) -> None:
    one, foreign = episode(group, "e1"), episode(other_group, "e1")
    await graph.receive(one, foreign)

    async def lanes(of: Episode) -> tuple[int, int, int]:
        return (
            (await _entity_view(graph, of)).lane_version,
            (await _fact_graph(graph, of)).lane_version,
            (await _community_graph(graph, of)).lane_version,
        )

    assert await lanes(one) == (0, 0, 0)
    await graph.entities(one)
    assert await lanes(one) == (1, 0, 0)
    await graph.facts(one)
    await graph.communities(group, one, moves={})
    await graph.communities(group, None, moves={})
    assert await lanes(one) == (1, 1, 2)
    assert (await graph.store.group_graph(group)).lane_version == 2
    assert await lanes(foreign) == (0, 0, 0)


@pytest.mark.parametrize("version", [0, 2])
async def test_a_commit_of_another_version_is_fenced_and_writes_nothing(
    graph: Graph, group: str, version: int
) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    ana, bob, cyd = (entity(group, name) for name in ("Ana", "Bob", "Cyd"))
    knows = fact(ana, "KNOWS", bob)
    await graph.entities(one, ana, bob)
    await graph.facts(one)
    await graph.communities(group, one, moves={})

    with pytest.raises(Fenced):
        await graph.store.commit_entities(
            EntityCommit(two.ref, version, (EntityWrite(cyd),), ("cyd",), "out", Usage(llm_calls=9), day(2))
        )
    with pytest.raises(Fenced):
        await graph.store.commit_facts(
            FactCommit(
                two.ref,
                version,
                (evidence("v1", "ana", "KNOWS", "bob"),),
                (FactWrite(knows),),
                (EntityWrite(ana.model_copy(update={"summary": "changed"})),),
                "out",
                Usage(llm_calls=9),
                day(2),
            )
        )
    for of in (two.ref, None):
        with pytest.raises(Fenced):
            await graph.store.commit_communities(
                CommunityCommit(
                    group,
                    of,
                    version,
                    (CommunityWrite(community(group, "C")),),
                    {"ana": "c"},
                    Usage(llm_calls=9),
                    day(2),
                )
            )

    assert await graph.reader.entity(group, "cyd") is None
    assert await graph.reader.fact(group, knows.id) is None
    assert await graph.reader.community(group, "c") is None
    assert await graph.reader.entity(group, "ana") == ana
    facts = await _fact_graph(graph, two)
    assert (facts.mark, facts.lane_version, facts.evidence) == (None, 1, ())
    assert ((await _entity_view(graph, two)).mark, (await _entity_view(graph, two)).lane_version) == (None, 1)
    assert (await _community_graph(graph, two)).lane_version == 1
    read = await graph.reader.episode(group, "e2")
    assert read is not None
    assert (read.state, read.usage, read.entities) == (EpisodeState.received, Usage(), ())


async def test_an_episode_is_committed_once(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    await graph.entities(one, entity(group, "Ana"), output="first")
    with pytest.raises(Fenced):
        await graph.entities(one, entity(group, "Bob"), output="second")
    view = await _entity_view(graph, one)
    assert (view.mark, view.lane_version) == (Mark("first"), 1)
    assert await graph.reader.entity(group, "bob") is None


async def test_of_two_commits_at_once_one_is_fenced(graph: Graph, group: str) -> None:
    rivals = [episode(group, f"e{n}", sequence=n) for n in range(4)]
    await graph.receive(*rivals)
    results = await asyncio.gather(
        *(
            graph.store.commit_entities(
                EntityCommit(e.ref, 0, (EntityWrite(entity(group, e.id)),), (e.id,), "{}", Usage(), day(1))
            )
            for e in rivals
        ),
        return_exceptions=True,
    )
    won = [e.id for e, result in zip(rivals, results, strict=True) if result is None]
    assert len(won) == 1
    assert [type(result) for result in results if result is not None] == [Fenced] * 3
    graph_now = await graph.store.group_graph(group)
    assert [e.id for e in graph_now.entities] == won


async def test_a_commit_that_fails_half_way_leaves_nothing(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    ana, nobody = entity(group, "Ana"), entity(group, "Nobody")
    await graph.entities(one, ana)
    loop, dangling = fact(ana, "KNOWS", ana), fact(ana, "KNOWS", nobody)
    commit = FactCommit(
        one.ref,
        0,
        (evidence("v1", "ana", "KNOWS", "bob"),),
        (FactWrite(loop, vector("a")), FactWrite(dangling, vector("b"))),
        (EntityWrite(ana.model_copy(update={"summary": "changed"})),),
        "out",
        Usage(llm_calls=1),
        day(1),
    )
    with pytest.raises(Exception, match="not in the graph"):
        await graph.store.commit_facts(commit)
    with pytest.raises(Exception, match="not in the graph"):
        await graph.store.commit_entities(
            EntityCommit(
                episode(group, "e2").ref, 1, (EntityWrite(nobody),), ("stranger",), "out", Usage(), day(1)
            )
        )
    with pytest.raises(Exception, match="not in the graph"):
        await graph.store.commit_communities(
            CommunityCommit(group, one.ref, 0, (), {"ana": "nowhere"}, Usage(), day(1))
        )
    found = await _fact_graph(graph, one)
    assert (found.mark, found.lane_version, found.evidence) == (None, 0, ())
    assert found.entities == {"ana": ana}
    assert await graph.reader.fact(group, loop.id) is None
    assert await graph.reader.entity(group, "nobody") is None
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert (read.state, read.usage) == (EpisodeState.resolved, Usage())


async def test_a_vector_of_another_length_is_a_wrong_setting(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    with pytest.raises(SettingError):
        await graph.store.receive(one, [1.0, 0.0], 4, day(1))
    assert await graph.reader.episode(group, "e1") is None
    await graph.receive(one)
    with pytest.raises(SettingError):
        await graph.store.commit_entities(
            EntityCommit(one.ref, 0, (EntityWrite(entity(group, "Ana"), [1.0]),), (), "{}", Usage(), day(1))
        )
    assert await graph.reader.entity(group, "ana") is None
    assert (await _entity_view(graph, one)).lane_version == 0


async def test_store_and_reader_answer_pings_and_open_twice(graph: Graph) -> None:
    await graph.store.open()
    await graph.reader.open()
    await graph.store.ping()
    await graph.reader.ping()
