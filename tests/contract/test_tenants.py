"""Tenants: two groups with the same ids and words never meet; names are data, whatever they look like."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.graph.community_port import CommunityQuery
from pipeline.graph.fact_port import FactQuery, Triplet
from pipeline.graph.search import Candidates, Filters, Method, Scope, StoredEpisode
from pipeline.identity import entity_key
from pipeline.model.extraction import Cardinality
from tests.contract.kit import (
    Graph,
    community,
    day,
    entity,
    entity_query,
    episode,
    evidence,
    fact,
    leg,
    plan,
    supported,
)

SECRET = "larkspur"
PUBLIC = "dye maker"


async def _tenant(graph: Graph, group: str, extra: str) -> None:
    """The same ids and words in every tenant, but for one word."""
    ana, bob = entity(group, "Ana", summary=extra, aliases=(extra,)), entity(group, "Bob")
    one = episode(group, "e1", f"{PUBLIC} {extra}", thread_id="t", metadata={"tag": extra})
    await graph.world(
        one,
        fact(ana, "MAKES", bob, id="f1", fact=f"{PUBLIC} {extra}", support=supported(["e1"])),
        entities=(ana, bob),
    )
    await graph.facts(
        episode(group, "e2"), evidence=[evidence("v1", "ana", "MAKES", "bob", Cardinality.one, fact=extra)]
    )
    await graph.communities(
        group,
        one,
        community(group, PUBLIC, id="c1", summary=extra),
        moves={"ana": "c1", "bob": "c1"},
    )


def _everything(group: str, query: str, **changes: Any) -> Any:
    return plan(
        group,
        query,
        **{
            "scopes": tuple(Scope),
            "bfs_origins": ("ana", "e1"),
            "bfs_depth": 3,
            "distances_from": "ana",
            "similarities": True,
            "mentions": True,
            **changes,
        },
    )


def _shown(found: Candidates) -> str:
    """All of an answer as text."""
    return repr((found.items, found.legs, found.distances, found.similarities, found.mentions))


@pytest.fixture(params=["other", "prefix", "case"])
def foreign(request: pytest.FixtureRequest, group: str, other_group: str) -> str:
    """A group that is another one by all of its name, by its end, or by its case."""
    return {"other": other_group, "prefix": f"{group}-eu", "case": group.upper()}[request.param]


async def test_no_search_shows_anything_of_another_group(graph: Graph, group: str, foreign: str) -> None:
    await _tenant(graph, group, "nettle")
    alone = await graph.reader.search(_everything(group, f"{PUBLIC} {SECRET} ana bob"))
    await _tenant(graph, foreign, SECRET)
    found = await graph.reader.search(_everything(group, f"{PUBLIC} {SECRET} ana bob"))
    assert SECRET not in _shown(found)
    assert foreign not in _shown(found)
    for one, before in zip(found.legs, alone.legs, strict=True):
        assert [key for key, _ in one.ranked] == [key for key, _ in before.ranked]
        assert before.method is Method.bfs or before.ranked
    assert (found.items, found.distances, found.mentions) == (alone.items, alone.distances, alone.mentions)
    assert {scope: set(pairs) for scope, pairs in found.similarities.items()} == {
        scope: set(pairs) for scope, pairs in alone.similarities.items()
    }
    for scope, items in found.items.items():
        for item in items.values():
            assert (item.episode if isinstance(item, StoredEpisode) else item).group_id == group, scope
    secret = await graph.reader.search(_everything(group, SECRET, methods=(Method.bm25,)))
    assert all(one.ranked == () for one in secret.legs)
    tagged = await graph.reader.search(_everything(group, PUBLIC, filters=Filters(metadata={"tag": SECRET})))
    assert SECRET not in _shown(tagged)
    assert all(not leg(tagged, Scope.facts, method) for method in Method)


async def test_no_read_shows_anything_of_another_group(graph: Graph, group: str, foreign: str) -> None:
    await _tenant(graph, group, "nettle")
    await _tenant(graph, foreign, SECRET)
    one = episode(group, "e1")
    shown = [
        await graph.reader.episode(group, "e1"),
        await graph.reader.episodes(group, before=None, limit=10, thread_id=None),
        await graph.reader.episodes(group, before=None, limit=10, thread_id="t"),
        await graph.reader.fact(group, "f1"),
        await graph.reader.entity(group, "ana"),
        await graph.reader.entity_facts(group, "ana"),
        await graph.reader.community(group, "c1"),
        await graph.store.receive(
            episode(group, "e3", thread_id="t", reference_time=day(2), sequence=3), None, 4, day(1)
        ),
        await graph.store.entity_view(entity_query(one, "Ana", SECRET, PUBLIC)),
        await graph.store.fact_graph(
            FactQuery(one.ref, (Triplet("ana", "MAKES", "bob", True),), ("ana", "bob"))
        ),
        await graph.store.community_graph(CommunityQuery(one.ref, ("ana", "bob"))),
        await graph.store.group_graph(group),
    ]
    for answer in shown:
        assert "nettle" in repr(answer) or "group_id" in repr(answer)
        assert SECRET not in repr(answer)
        assert foreign not in repr(answer)


async def test_what_only_another_group_has_is_not_there(graph: Graph, group: str, foreign: str) -> None:
    await _tenant(graph, foreign, SECRET)
    assert await graph.reader.episode(group, "e1") is None
    assert list(await graph.reader.episodes(group, before=None, limit=10, thread_id=None)) == []
    assert await graph.reader.fact(group, "f1") is None
    assert await graph.reader.entity(group, "ana") is None
    assert await graph.reader.entity_facts(group, "ana") is None
    assert await graph.reader.community(group, "c1") is None
    found = await graph.reader.search(_everything(group, f"{PUBLIC} ana"))
    assert all(one.ranked == () for one in found.legs)


async def test_what_one_group_writes_changes_nothing_in_another(
    graph: Graph, group: str, foreign: str
) -> None:
    await _tenant(graph, group, "nettle")
    before = await graph.reader.search(_everything(group, PUBLIC))
    await _tenant(graph, foreign, SECRET)
    await graph.store.mark_dead(foreign, "e1", "gone")
    await graph.communities(foreign, None, moves={})
    renamed = entity(foreign, "Zed", id="ana")
    two = episode(foreign, "e9", sequence=9)
    await graph.receive(two)
    await graph.entities(two, renamed)
    after = await graph.reader.search(_everything(group, PUBLIC))
    assert after.items == before.items


HOSTILE = [
    "'; DROP TABLE entity; --",
    '"}) DETACH DELETE n //',
    "`x`:Label {a: 1}",
    "$param :name ?1 @x",
    "a\\b\\'c",
    "100% _like_ [a-z]*",
    "\u202eRTL\u202c and \u200djoiner",
    "😀🏳️‍🌈 Zürich 北京",
    "x" * 900,
    "new\nline\ttab",
    "null",
    "{{template}} {0} %s",
]


@pytest.mark.parametrize("name", HOSTILE)
async def test_names_are_data(graph: Graph, group: str, name: str) -> None:
    group = f"{group} {name.replace(chr(10), ' ').replace(chr(9), ' ')}"[:128]
    given = entity(
        group,
        name,
        id="given",
        type=name[:200],
        aliases=(f"{name} too",),
        attributes={name: [name]},
        summary=name,
    )
    other = entity(group, "Other")
    source = episode(group, name[:200], name, thread_id=name, metadata={name: name}, source_description=name)
    stated = fact(
        given,
        name[:200],
        other,
        id="stated",
        fact=name,
        attributes={name: name},
        support=supported([source.id]),
    )
    await graph.receive(source)
    await graph.entities(source, given, other)
    said = evidence("said", "given", name[:200], "other", Cardinality.one, episode_id=source.id, fact=name)
    await graph.facts(source, stated, evidence=[said])
    await graph.communities(group, source, community(group, name, id="c1"), moves={"given": "c1"})
    given = given.model_copy(update={"community_id": "c1"})

    assert await graph.reader.entity(group, "given") == given
    assert await graph.reader.fact(group, "stated") == stated
    read = await graph.reader.episode(group, source.id)
    assert read is not None
    assert (read.episode, read.facts) == (source, (stated,))
    listed = await graph.reader.episodes(group, before=None, limit=5, thread_id=name)
    assert [each.episode.id for each in listed] == [source.id]
    view = await graph.store.entity_view(entity_query(source, name))
    assert view.by_key == ((given,),) if entity_key(name) else ((),)
    found = await graph.store.fact_graph(
        FactQuery(source.ref, (Triplet("given", name[:200], "other", True),), ("given",))
    )
    assert (found.evidence, found.facts) == ((said,), (stated,))

    filters = Filters(relations=(name[:200],), entity_types=(name[:200],), metadata={name: name})
    searched = await graph.search(
        group, name, filters=filters, scopes=tuple(Scope), bfs_origins=(source.id, name)
    )
    assert list(leg(searched, Scope.facts, Method.cosine)) == ["stated"]
    assert list(leg(searched, Scope.facts, Method.bfs)) == ["stated"]
    assert list(leg(searched, Scope.entities, Method.cosine)) == ["given"]
    if any(character.isalnum() for character in name):
        assert list(leg(searched, Scope.facts, Method.bm25)) == ["stated"]
        assert list(leg(searched, Scope.communities, Method.bm25)) == ["c1"]
        assert list(leg(searched, Scope.episodes, Method.bm25)) == [source.id]
