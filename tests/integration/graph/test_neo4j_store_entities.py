"""What the Neo4j store writes of entities and their mentions, and reads back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactQuery, Triplet
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.entity import SummaryLine
from tests.integration.graph.neo4j_write_kit import (
    AT,
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
