"""Facts: evidence by triplet and by slot, beliefs kept whole, reads by id."""

from __future__ import annotations

from pipeline.graph.fact_port import FactQuery, FactWrite, Triplet
from pipeline.graph.search import Method, Scope
from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.model.fact import Belief, Support
from pipeline.timeline.precision import Precision
from tests.contract.kit import (
    MICROSECOND,
    Graph,
    belief,
    day,
    entity,
    episode,
    evidence,
    fact,
    leg,
    supported,
)

ONE, MANY = Cardinality.one, Cardinality.many


async def test_evidence_of_a_triplet_or_of_the_whole_slot(graph: Graph, group: str, other_group: str) -> None:
    stored = {
        "a-one": evidence("a-one", "ana", "LIVES_IN", "lima", ONE),
        "a-many": evidence("a-many", "ana", "LIVES_IN", "lima", MANY),
        "b-one": evidence("b-one", "ana", "LIVES_IN", "rome", ONE),
        "b-many": evidence("b-many", "ana", "LIVES_IN", "oslo", MANY),
        "other-relation": evidence("other-relation", "ana", "BORN_IN", "rome", ONE),
        "other-subject": evidence("other-subject", "bob", "LIVES_IN", "rome", ONE),
    }
    for of, names in ((group, stored), (other_group, ["a-one"])):
        one = episode(of, "e1")
        await graph.receive(one)
        people = [entity(of, name) for name in ("Ana", "Bob", "Lima", "Rome", "Oslo")]
        await graph.entities(one, *people)
        await graph.facts(one, evidence=[stored[name] for name in names])
    two = episode(group, "e2", sequence=2)

    async def asked(*triplets: Triplet) -> list[str]:
        found = await graph.store.fact_graph(FactQuery(two.ref, triplets, ()))
        assert all(item == stored[item.id] for item in found.evidence)
        return sorted(item.id for item in found.evidence)

    assert await asked() == []
    assert await asked(Triplet("ana", "LIVES_IN", "lima", False)) == ["a-many", "a-one"]
    assert await asked(Triplet("ana", "LIVES_IN", "oslo", False)) == ["b-many"]
    # A value of which anything has cardinality one comes with all that was said of it.
    assert await asked(Triplet("ana", "LIVES_IN", "oslo", True)) == ["a-many", "a-one", "b-many", "b-one"]
    assert await asked(Triplet("ana", "LIVES_IN", "paris", True)) == ["a-many", "a-one", "b-one"]
    assert await asked(Triplet("ana", "lives_in", "lima", True)) == []
    assert await asked(
        Triplet("ana", "LIVES_IN", "lima", True),
        Triplet("ana", "LIVES_IN", "lima", False),
        Triplet("bob", "LIVES_IN", "rome", False),
    ) == ["a-many", "a-one", "b-one", "other-subject"]


async def test_facts_come_with_the_evidence_believed_or_not(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    ana, lima, rome, oslo = (entity(group, name) for name in ("Ana", "Lima", "Rome", "Oslo"))
    lives = fact(ana, "LIVES_IN", lima, belief(1, 1), belief(2, 1, 5))
    again = fact(ana, "LIVES_IN", lima, belief(2, 9), id="again")
    never = fact(ana, "LIVES_IN", rome, belief(1, 1), belief(2, holds=False))
    apart = fact(ana, "LIVES_IN", oslo)
    await graph.entities(one, ana, lima, rome, oslo)
    await graph.facts(
        one,
        lives,
        again,
        never,
        apart,
        evidence=[
            evidence("v1", "ana", "LIVES_IN", "lima", ONE),
            evidence("v2", "ana", "LIVES_IN", "rome", ONE),
            evidence("v3", "ana", "LIVES_IN", "oslo", MANY),
        ],
    )
    asked = FactQuery(one.ref, (Triplet("ana", "LIVES_IN", "lima", True),), ("ana", "oslo", "nobody"))
    found = await graph.store.fact_graph(asked)
    assert {f.id: f for f in found.facts} == {f.id: f for f in (lives, again, never)}
    # Those asked for, and the ends of the facts: their summaries may change with them.
    assert found.entities == {"ana": ana, "oslo": oslo, "lima": lima, "rome": rome}


async def test_a_fact_and_its_evidence_are_kept_whole(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    ana, lima = entity(group, "Ana"), entity(group, "Lima")
    given = fact(
        ana,
        "LIVES_IN",
        lima,
        Belief(known_from=day(1) + MICROSECOND, valid_at=None, invalid_at=None),
        Belief(
            known_from=day(2),
            valid_at=day(-900),
            valid_at_precision=Precision.year,
            invalid_at=day(5) - MICROSECOND,
            invalid_at_precision=Precision.period,
            closed_by="e2",
            closing_rule="superseded",
        ),
        Belief(known_from=day(3), holds=False),
        fact="Ana lives in Lima, she says: \"yes\" 'no' \\ {} 安娜",
        cardinality="one",
        attributes={"floor": 3, "tags": ["a", None]},
        support=(
            Support(episode_id="e1", evidence_id="v1", known_from=day(1), known_to=day(2)),
            Support(episode_id="e1", evidence_id="v2", known_from=day(2)),
        ),
        revision=3,
    )
    said = evidence(
        "v1",
        "ana",
        "LIVES_IN",
        "lima",
        ONE,
        kind=StatementKind.closes,
        attributes={"a": [1]},
        valid_at=None,
        invalid_at=day(5),
        invalid_at_precision=Precision.day,
        index=4,
        rule="judge",
        recorded_at=day(2) + MICROSECOND,
    )
    await graph.entities(one, ana, lima)
    await graph.facts(one, given, evidence=[said])
    assert await graph.reader.fact(group, given.id) == given
    found = await graph.store.fact_graph(FactQuery(one.ref, (Triplet("ana", "LIVES_IN", "lima", False),), ()))
    assert (found.evidence, found.facts) == ((said,), (given,))


async def test_a_fact_is_overwritten_whole_and_keeps_its_vector(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    ana, lima = entity(group, "Ana"), entity(group, "Lima")
    before = fact(ana, "LIVES_IN", lima, support=supported(["e1"]), fact="Ana resides there")
    await graph.world(one, before, entities=(ana, lima))
    assert await graph.found(group, "resides") == [before.id]
    after = before.model_copy(
        update={
            "beliefs": (*before.beliefs, belief(2, 1, 3)),
            "support": supported(["e1", "e2"]),
            "attributes": {"floor": 3},
            "fact": "Ana dwelt there",
            "revision": 2,
        }
    )
    await graph.receive(two)
    await graph.facts(two, facts=(FactWrite(after),))
    assert await graph.reader.fact(group, before.id) == after
    assert leg(await graph.search(group, before.fact), Scope.facts, Method.cosine)[before.id] > 0.999
    assert await graph.found(group, "dwelt") == [before.id]
    assert await graph.found(group, "resides") == []
    assert await graph.found(group, "dwelt", as_of=day(3)) == []


async def test_all_facts_of_an_entity_in_both_directions_oldest_start_first(
    graph: Graph, group: str, other_group: str
) -> None:
    ana, bob, cyd = (entity(group, name) for name in ("Ana", "Bob", "Cyd"))
    facts = (
        fact(ana, "LATER", bob, belief(1, 7)),
        fact(bob, "EARLIER", ana, belief(1, 2, 3)),
        fact(ana, "ITSELF", ana, belief(1, 4)),
        fact(cyd, "UNKNOWN", ana, belief(1, None)),
        fact(ana, "NEVER", cyd, belief(1, 5), belief(2, holds=False)),
        fact(bob, "APART", cyd, belief(1, 1)),
    )
    await graph.world(episode(group, "e1"), *facts, entities=(ana, bob, cyd, entity(group, "Dee")))
    found = await graph.reader.entity_facts(group, "ana")
    assert found is not None
    assert [f.relation for f in found] == ["UNKNOWN", "EARLIER", "ITSELF", "NEVER", "LATER"]
    assert {f.id: f for f in found} == {f.id: f for f in facts[:5]}
    lonely = await graph.reader.entity_facts(group, "dee")
    assert lonely is not None
    assert list(lonely) == []
    assert await graph.reader.entity_facts(group, "nobody") is None
    assert await graph.reader.entity_facts(other_group, "ana") is None


async def test_an_episode_is_read_with_what_came_of_it(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2", sequence=2)
    ana, bob = entity(group, "Ana"), entity(group, "Bob")
    closed = fact(ana, "KNEW", bob, belief(1, 1, 2), support=supported(["e1", "e2"]))
    retracted = fact(
        ana,
        "MET",
        bob,
        belief(1),
        belief(2, holds=False),
        support=(Support(episode_id="e1", evidence_id="v0", known_from=day(1), known_to=day(2)),),
    )
    moved = fact(
        ana,
        "SAW",
        bob,
        support=(
            Support(episode_id="e1", evidence_id="v1", known_from=day(1), known_to=day(2)),
            Support(episode_id="e2", evidence_id="v2", known_from=day(1)),
        ),
    )
    await graph.receive(two)
    await graph.entities(two, mentioned=())
    await graph.receive(one)
    await graph.entities(one, ana, bob)
    await graph.facts(one, closed, retracted, moved, fact(ana, "FOUND", bob, support=supported(["e2"])))
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert {f.id: f for f in read.facts} == {f.id: f for f in (closed, retracted, moved)}
    assert sorted(read.entities, key=lambda e: e.id) == [ana, bob]


async def test_what_is_not_there_is_none(graph: Graph, group: str) -> None:
    assert await graph.reader.fact(group, "x") is None
    assert await graph.reader.entity(group, "x") is None
    assert await graph.reader.community(group, "x") is None
    assert await graph.reader.episode(group, "x") is None
    found = await graph.store.fact_graph(
        FactQuery(episode(group, "e1").ref, (Triplet("a", "B", "c", True),), ("a",))
    )
    assert (found.mark, found.lane_version, found.evidence, found.facts, found.entities) == (
        None,
        0,
        (),
        (),
        {},
    )
