"""Communities: neighbourhoods by current facts, moves, rebuilds, and the end of empty ones."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.errors import Fenced
from pipeline.graph.community_port import CommunityQuery, CommunityTexts, CommunityWrite
from pipeline.graph.search import Method, Scope
from pipeline.model.community import Community
from pipeline.model.episode import Usage
from tests.contract.kit import Graph, belief, community, day, entity, episode, fact, leg, vector

TODAY = (datetime.now(UTC) - datetime(2024, 1, 1, tzinfo=UTC)).days + 1


async def _people(graph: Graph, group: str) -> None:
    """Ana knows Bob by two current facts, Cyd by one; the rest is not current."""
    ana, bob, cyd, dee = (entity(group, name) for name in ("Ana", "Bob", "Cyd", "Dee"))
    await graph.world(
        episode(group, "e1"),
        fact(ana, "KNOWS", bob),
        fact(bob, "LIKES", ana, belief(1, None)),
        fact(cyd, "KNOWS", ana, belief(1, 1, TODAY + 1000)),
        fact(ana, "KNEW", dee, belief(1, 1, 2)),
        fact(ana, "WILL_KNOW", dee, belief(1, TODAY + 1000)),
        fact(ana, "NEVER_KNEW", dee, belief(1), belief(2, holds=False)),
        fact(ana, "IS", ana),
        entities=(ana, bob, cyd, dee),
    )


async def test_neighbours_are_counted_by_current_facts_in_both_directions(graph: Graph, group: str) -> None:
    await _people(graph, group)
    one = episode(group, "e1")
    found = await graph.store.community_graph(CommunityQuery(one.ref, ("ana", "dee", "nobody")))
    assert set(found.neighbourhoods) == {"ana", "dee"}
    assert found.neighbourhoods["ana"].entity == entity(group, "Ana")
    assert found.neighbourhoods["ana"].neighbours == {"bob": (2, None), "cyd": (1, None)}
    assert found.neighbourhoods["dee"].neighbours == {}
    assert (found.communities, found.members) == ({}, {})
    bounded = await graph.store.community_graph(CommunityQuery(one.ref, ("ana",), neighbour_limit=1))
    assert bounded.neighbourhoods["ana"].neighbours == {"bob": (2, None)}


async def test_the_whole_group_has_each_pair_once(graph: Graph, group: str, other_group: str) -> None:
    await _people(graph, group)
    await _people(graph, other_group)
    whole = await graph.store.group_graph(group)
    assert sorted(e.id for e in whole.entities) == ["ana", "bob", "cyd", "dee"]
    assert {e.group_id for e in whole.entities} == {group}
    assert {frozenset((a, b)): weight for a, b, weight in whole.edges} == {
        frozenset(("ana", "bob")): 2,
        frozenset(("ana", "cyd")): 1,
    }
    assert len(whole.edges) == 2
    nothing = await graph.store.group_graph(f"{group}-unknown")
    assert (nothing.lane_version, nothing.entities, nothing.edges) == (0, (), ())


async def _members(graph: Graph, group: str, community_id: str) -> list[str] | None:
    read = await graph.reader.community(group, community_id)
    return None if read is None else sorted(read.members)


async def test_members_come_and_go_and_empty_communities_end(graph: Graph, group: str) -> None:
    await _people(graph, group)
    one, two, three = (episode(group, f"e{n}", sequence=n) for n in (1, 2, 3))
    await graph.receive(two, three)
    red, blue = community(group, "Red"), community(group, "Blue")
    await graph.communities(group, one, red, blue, moves={"ana": "red", "bob": "red", "cyd": "blue"})
    assert await _members(graph, group, "red") == ["ana", "bob"]
    assert await _members(graph, group, "blue") == ["cyd"]
    read = await graph.reader.community(group, "red")
    assert read is not None
    assert Community(**{**read.model_dump(), "members": ()}) == red

    await graph.communities(
        group, two, red.model_copy(update={"name": "Ruby"}), moves={"cyd": "red", "ana": None}
    )
    assert await _members(graph, group, "red") == ["bob", "cyd"]
    assert await _members(graph, group, "blue") is None
    read = await graph.reader.community(group, "red")
    assert read is not None
    assert (read.name, read.summary) == ("Ruby", red.summary)
    ana = await graph.reader.entity(group, "ana")
    cyd = await graph.reader.entity(group, "cyd")
    assert ana is not None
    assert cyd is not None
    assert (ana.community_id, cyd.community_id) == (None, "red")

    found = await graph.search(group, "Blue", scopes=(Scope.communities,))
    assert leg(found, Scope.communities, Method.bm25) == {}
    assert set(leg(found, Scope.communities, Method.cosine)) <= {"red"}
    await graph.communities(group, three, moves={"bob": None, "cyd": None})
    assert await _members(graph, group, "red") is None


async def test_the_view_shows_the_communities_that_occur_with_bounded_members(
    graph: Graph, group: str
) -> None:
    await _people(graph, group)
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(two)
    red, blue, far = community(group, "Red"), community(group, "Blue"), community(group, "Far")
    far_entity = entity(group, "Fay")
    await graph.entities(two, far_entity)
    await graph.communities(
        group,
        one,
        red,
        blue,
        far,
        moves={"cyd": "red", "bob": "blue", "ana": "red", "dee": "red", "fay": "far"},
    )
    found = await graph.store.community_graph(CommunityQuery(two.ref, ("ana",), member_limit=2))
    assert found.neighbourhoods["ana"].entity.community_id == "red"
    assert found.neighbourhoods["ana"].neighbours == {"bob": (2, "blue"), "cyd": (1, "red")}
    assert {c.id: c.name for c in found.communities.values()} == {"red": "Red", "blue": "Blue"}
    assert {c: [e.id for e in members] for c, members in found.members.items()} == {
        "red": ["ana", "cyd"],
        "blue": ["bob"],
    }


async def test_a_rebuild_leaves_only_what_it_made(graph: Graph, group: str, other_group: str) -> None:
    await _people(graph, group)
    await _people(graph, other_group)
    for of in (group, other_group):
        await graph.communities(
            of,
            episode(of, "e1"),
            community(of, "Old"),
            community(of, "Kept"),
            moves={"ana": "old", "bob": "old", "cyd": "kept", "dee": "kept"},
        )
    await graph.communities(
        group, None, community(group, "New"), community(group, "Kept"), moves={"ana": "new", "cyd": "new"}
    )
    assert await _members(graph, group, "new") == ["ana", "cyd"]
    assert await _members(graph, group, "kept") == ["dee"]
    assert await _members(graph, group, "old") is None
    bob = await graph.reader.entity(group, "bob")
    assert bob is not None
    assert bob.community_id is None
    assert await _members(graph, other_group, "old") == ["ana", "bob"]


async def test_communities_are_found_after_a_rebuild_by_their_new_vectors(graph: Graph, group: str) -> None:
    await _people(graph, group)
    old, new = community(group, "Amber", id="old"), community(group, "Basalt", id="new")
    await graph.communities(group, episode(group, "e1"), old, moves={"ana": "old"})
    found = await graph.search(group, "Amber", scopes=(Scope.communities,))
    assert list(leg(found, Scope.communities, Method.cosine)) == ["old"]
    await graph.communities(group, None, new, moves={"ana": "new"})
    found = await graph.search(group, "Basalt", scopes=(Scope.communities,))
    assert leg(found, Scope.communities, Method.cosine)["new"] > 0.999
    assert list(leg(found, Scope.communities, Method.bm25)) == ["new"]


async def test_a_view_of_an_unknown_group_is_empty(graph: Graph, group: str) -> None:
    found = await graph.store.community_graph(CommunityQuery(episode(group, "e1").ref, ("ana",)))
    assert (found.mark, found.lane_version, found.neighbourhoods) == (None, 0, {})


def _texts(group: str, version: int, *communities: Community, **more: Any) -> CommunityTexts:
    given: dict[str, Any] = {"usage": Usage(llm_calls=1, prompt_tokens=50), "at": day(3)}
    written = tuple(CommunityWrite(c, vector(f"{c.name}: {c.summary}")) for c in communities)
    return CommunityTexts(group_id=group, lane_version=version, communities=written, **{**given, **more})


async def test_communities_are_told_anew_while_members_stay(
    graph: Graph, group: str, other_group: str
) -> None:
    await _people(graph, group)
    one = episode(group, "e1")
    await graph.communities(
        group, one, community(group, "Trio"), moves={"ana": "trio", "bob": "trio", "cyd": "trio"}
    )
    view = await graph.store.communities(group, ["trio", "gone", "trio"], 2)
    assert list(view.communities) == ["trio"]
    # Those with most current facts first.
    assert [member.id for member in view.members["trio"]] == ["ana", "bob"]
    assert (await graph.store.communities(other_group, ["trio"], 2)).communities == {}

    told = view.communities["trio"].model_copy(update={"summary": "They collect old owls"})
    gone = community(group, "Gone")
    await graph.store.describe_communities(_texts(group, view.lane_version, told, gone))
    read = await graph.reader.community(group, "trio")
    assert read is not None
    assert (read.summary, sorted(read.members)) == ("They collect old owls", ["ana", "bob", "cyd"])
    assert await graph.reader.community(group, "gone") is None
    assert await graph.found(group, "owls", scopes=(Scope.communities,)) == ["trio"]
    assert (await graph.store.spent(group, day(3).date())).prompt_tokens == 50

    with pytest.raises(Fenced):
        await graph.store.describe_communities(_texts(group, view.lane_version, gone))
    assert (await graph.store.spent(group, day(3).date())).prompt_tokens == 50
