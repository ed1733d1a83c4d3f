"""Entities: who may be meant, kept whole, and shared between stages without loss."""

from __future__ import annotations

from pipeline.graph.entity_port import EntityQuery, EntityWrite
from pipeline.graph.search import Method, Scope
from pipeline.model.entity import Entity, SummaryLine
from pipeline.text.analysis import search_text
from tests.contract.kit import Graph, community, day, entity, entity_query, episode, leg, vector


def _ids(found: tuple[Entity, ...]) -> list[str]:
    return sorted(e.id for e in found)


async def test_an_entity_is_kept_whole(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    given = entity(
        group,
        "Ángel Müller",
        type="Person",
        aliases=("Angel", "安娜"),
        summary="Told. Line one.",
        description="Told.",
        lines=(SummaryLine(fact_id="f1", text="Line one."),),
        attributes={"age": 41, "nested": {"list": [1, 2.5, None, True, "x"]}},
        created_at=day(3),
    )
    await graph.entities(one, given)
    assert await graph.reader.entity(group, given.id) == given
    view = await graph.store.entity_view(entity_query(one, "angel"))
    assert view.by_key == ((given,),)


async def test_by_key_finds_every_type_and_alias_and_nothing_else(
    graph: Graph, group: str, other_group: str
) -> None:
    one, foreign = episode(group, "e1"), episode(other_group, "e1")
    await graph.receive(one, foreign)
    await graph.entities(
        one,
        entity(group, "Mercury", id="planet", type="Planet"),
        entity(group, "Mercury", id="metal", type="Metal"),
        entity(group, "Freddie", id="singer", type=None, aliases=("Mercury",)),
        entity(group, "Mercury Two", id="ship"),
    )
    await graph.entities(foreign, entity(other_group, "Mercury", id="foreign"))
    view = await graph.store.entity_view(
        EntityQuery(
            one.ref, (("mercury",), ("nobody", "freddie"), ("nobody",), ()), ("", "", "", ""), (None,) * 4
        )
    )
    assert [_ids(found) for found in view.by_key] == [["metal", "planet", "singer"], ["singer"], [], []]
    assert view.similar == ((), (), (), ())


async def test_a_key_that_was_lost_finds_nothing(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    await graph.entities(one, entity(group, "Ana", aliases=("Annie",)))
    await graph.entities(two, entity(group, "Ana"))
    view = await graph.store.entity_view(entity_query(two, "Annie", "Ana", vectors=False))
    assert [_ids(found) for found in view.by_key] == [[], ["ana"]]


async def test_look_alikes_come_by_words_and_by_vectors(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    await graph.entities(
        one, entity(group, "Acme Corporation"), entity(group, "Borealis"), entity(group, "Cygnus")
    )
    by_words = await graph.store.entity_view(
        EntityQuery(one.ref, (("acme",),), (search_text("ACME"),), (None,), limit=10)
    )
    assert [e.id for e in by_words.similar[0]] == ["acme corporation"]
    by_vector = await graph.store.entity_view(
        EntityQuery(one.ref, (("x",), ("y",)), ("", ""), (vector("Cygnus"), None), limit=1)
    )
    assert [[e.id for e in found] for found in by_vector.similar] == [["cygnus"], []]


async def test_look_alikes_are_bounded_best_first_and_of_the_group(
    graph: Graph, group: str, other_group: str
) -> None:
    one, foreign = episode(group, "e1"), episode(other_group, "e1")
    await graph.receive(one, foreign)
    await graph.entities(
        one, *(entity(group, f"Acme {n}") for n in range(12)), entity(group, "Acme Blue Works")
    )
    await graph.entities(foreign, *(entity(other_group, f"Acme Blue {n}") for n in range(12)))
    view = await graph.store.entity_view(entity_query(one, "Acme Blue", "Acme Blue", limit=3))
    for found in view.similar:
        assert len(found) == 3
        assert found[0].id == "acme blue works"
        assert {e.group_id for e in found} == {group}


async def test_a_view_of_an_unknown_group_is_empty(graph: Graph, group: str) -> None:
    view = await graph.store.entity_view(entity_query(episode(group, "e1"), "Ana", "Bob"))
    assert (view.mark, view.lane_version, view.by_key, view.similar) == (None, 0, ((), ()), ((), ()))


async def test_without_a_new_vector_the_old_one_stays(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    await graph.entities(one, entity(group, "Ana"))
    renamed = entity(group, "Zed", id="ana")
    await graph.entities(two, renamed, entities=(EntityWrite(renamed),))
    found = await graph.search(group, "Ana", scopes=(Scope.entities,))
    assert leg(found, Scope.entities, Method.cosine)["ana"] > 0.999
    assert leg(found, Scope.entities, Method.bm25) == {}
    found = await graph.search(group, "Zed", scopes=(Scope.entities,))
    assert list(leg(found, Scope.entities, Method.bm25)) == ["ana"]


async def test_a_new_vector_replaces_the_old_one(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    await graph.entities(one, entity(group, "Ana"))
    before = await graph.search(group, "Ana", scopes=(Scope.entities,))
    assert leg(before, Scope.entities, Method.cosine)["ana"] > 0.999
    renamed = entity(group, "Zed", id="ana")
    await graph.entities(two, renamed)
    after = await graph.search(group, "Ana", scopes=(Scope.entities,))
    assert leg(after, Scope.entities, Method.cosine)["ana"] < 0.5


async def test_stages_that_write_one_entity_keep_each_others_part(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    read = entity(group, "Ana", description="A pilot.", summary="A pilot.")
    await graph.entities(one, read)
    line = SummaryLine(fact_id="f1", text="Ana flies.")
    told = read.model_copy(update={"lines": (line,), "summary": "A pilot. Ana flies."})
    named = read.model_copy(
        update={
            "aliases": ("Annie",),
            "keys": ("ana", "annie"),
            "description": "A captain.",
            "summary": "A captain.",
        }
    )
    await graph.facts(one, entities=(EntityWrite(told),))
    await graph.entities(two, named)
    both = named.model_copy(update={"lines": (line,), "summary": "A captain. Ana flies."})
    assert await graph.reader.entity(group, "ana") == both
    # The facts' stage still holds what it read before the alias came.
    landed = SummaryLine(fact_id="f2", text="Ana landed.")
    stale = told.model_copy(update={"lines": (line, landed), "summary": "A pilot. Ana flies. Ana landed."})
    await graph.facts(two, entities=(EntityWrite(stale),))
    assert await graph.reader.entity(group, "ana") == both.model_copy(
        update={"lines": (line, landed), "summary": "A captain. Ana flies. Ana landed."}
    )


async def test_writing_an_entity_leaves_its_community(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    ana = entity(group, "Ana")
    await graph.entities(one, ana)
    await graph.facts(one)
    await graph.communities(group, one, community(group, "C"), moves={"ana": "c"})
    await graph.entities(two, ana)
    await graph.facts(two, entities=(EntityWrite(ana),))
    read = await graph.reader.entity(group, "ana")
    assert read is not None
    assert read.community_id == "c"


async def test_mentions_lead_from_the_episode_to_its_entities_once(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    await graph.receive(one, two)
    await graph.entities(one, entity(group, "Ana"), entity(group, "Bob"), mentioned=("ana", "bob", "ana"))
    await graph.entities(two, mentioned=("ana",))
    for name, mentioned in (("e1", ["ana", "bob"]), ("e2", ["ana"])):
        read = await graph.reader.episode(group, name)
        assert read is not None
        assert sorted(e.id for e in read.entities) == mentioned
