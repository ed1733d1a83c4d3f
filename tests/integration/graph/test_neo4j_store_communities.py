"""What the Neo4j store writes of communities, and the neighbourhoods that it reads for them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.errors import Poison
from pipeline.graph.community_port import CommunityCommit, CommunityQuery, CommunityWrite
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.episode import Usage
from pipeline.model.fact import Belief
from tests.integration.graph.neo4j_write_kit import (
    AT,
    axis,
    community,
    cypher,
    entities_by_id,
    entity,
    episode,
    fact,
    fact_commit,
    members,
    stored,
)


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
    red, blue = community(group, "red"), community(group, "blue")
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
    assert await members(bolt_uri, group) == [["blue", "Ana"], ["blue", "Bob"]]
    assert await cypher(bolt_uri, "MATCH (c:Community {group_id: $g}) RETURN c.uuid", g=group) == [["blue"]]
    # What later commits of resolve_entities write does not touch the community.
    await stored(store, two, ana)
    assert (await entities_by_id(store, two, ana.id))[ana.id].community_id == "blue"


async def test_a_rebuild_swaps_all_communities(store: Neo4jGraphStore, group: str, bolt_uri: str) -> None:
    one = episode(group, "e1")
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    await stored(store, one, ana, bob)
    red, blue = community(group, "red"), community(group, "blue")
    writes = (CommunityWrite(red), CommunityWrite(blue))
    await store.commit_communities(
        CommunityCommit(group, None, 0, writes, {ana.id: "red", bob.id: "blue"}, Usage(), AT)
    )
    assert await members(bolt_uri, group) == [["blue", "Bob"], ["red", "Ana"]]
    await store.commit_communities(
        CommunityCommit(group, None, 1, (CommunityWrite(blue),), {ana.id: "blue"}, Usage(), AT)
    )
    assert await members(bolt_uri, group) == [["blue", "Ana"], ["blue", "Bob"]]
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
