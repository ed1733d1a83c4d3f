"""What the Neo4j store writes of evidence and facts, and reads back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.errors import Poison
from pipeline.graph.fact_port import FactQuery, FactWrite, Triplet
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j.codec import UNBOUNDED_FUTURE, UNBOUNDED_PAST, micros, scope_token
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Belief
from tests.integration.graph.neo4j_write_kit import (
    AT,
    cypher,
    entity,
    entity_commit,
    episode,
    evidence,
    fact,
    fact_commit,
    stored,
)


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
