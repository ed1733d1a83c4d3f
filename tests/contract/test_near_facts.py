"""Looks for facts that may say the same or contradict, and the slots of symmetric relations."""

from __future__ import annotations

from pipeline.graph.fact_port import SOURCE_CHARACTERS, FactGraph, FactQuery, FactWrite, Look, Triplet
from pipeline.model.episode import Episode
from pipeline.model.extraction import Cardinality
from tests.contract.kit import Graph, belief, day, entity, episode, evidence, fact, supported, vector

ONE, MANY = Cardinality.one, Cardinality.many


async def ask(graph: Graph, of: Episode, *looks: Look, limit: int = 10) -> FactGraph:
    return await graph.store.fact_graph(FactQuery(of.ref, (), (), looks, limit))


def near(found: FactGraph, place: int = 0) -> list[str]:
    return [n.fact.id for n in found.near[place]]


async def test_facts_of_the_pair_come_first_and_in_both_directions(
    graph: Graph, group: str, other_group: str
) -> None:
    for of in (group, other_group):
        ana, bob, cyd = (entity(of, name) for name in ("Ana", "Bob", "Cyd"))
        facts = (
            fact(ana, "KNOWS", bob, belief(1, 1)),
            fact(bob, "TEACHES", ana, belief(2, 1, 3)),
            fact(ana, "NEVER", bob, belief(3), belief(4, holds=False)),
            fact(ana, "KNOWS", cyd, belief(5)),
        )
        await graph.world(episode(of, "e1"), *facts, entities=(ana, bob, cyd))
    asking = episode(group, "e2", sequence=2)
    # Without a vector, and whatever the time: what the two have to do with each other.
    found = await ask(graph, asking, Look("ana", "bob", day(9)), Look("bob", "ana", day(9)))
    assert near(found, 0) == ["bob-teaches-ana", "ana-knows-bob"] == near(found, 1)
    assert near(await ask(graph, asking, Look("ana", "bob", day(9)), limit=1)) == ["bob-teaches-ana"]
    assert near(await ask(graph, asking, Look("nobody", "ana", day(9)))) == []
    assert (await ask(graph, asking)).near == ()


async def test_near_by_meaning_are_those_of_either_end_that_hold_then(graph: Graph, group: str) -> None:
    ana, bob, tea, rum = (entity(group, name) for name in ("Ana", "Bob", "Tea", "Rum"))
    facts = (
        fact(ana, "LIKES", tea, belief(1, 1), fact="Ana likes tea very much"),
        fact(ana, "LIKES", rum, belief(1, 1, 5), fact="Ana likes rum very much"),
        fact(bob, "LIKES", tea, belief(1, 6), fact="Bob likes tea"),
        fact(bob, "LIKES", rum, belief(1, 1), fact="Bob likes rum"),
        fact(ana, "SELLS", tea, belief(1, None), fact="A shop is run in Lima"),
    )
    await graph.world(episode(group, "e1"), *facts, entities=(ana, bob, tea, rum, entity(group, "New")))
    asking = episode(group, "e2", sequence=2)

    async def found(at: int, text: str, subject: str = "ana", limit: int = 10) -> list[str]:
        return near(await ask(graph, asking, Look(subject, "new", day(at), vector(text)), limit=limit))

    assert await found(3, "Ana likes tea") == ["ana-likes-tea", "ana-likes-rum", "ana-sells-tea"]
    assert await found(3, "Ana likes rum") == ["ana-likes-rum", "ana-likes-tea", "ana-sells-tea"]
    assert await found(5, "Ana likes rum") == ["ana-likes-tea", "ana-sells-tea"]
    assert await found(3, "Ana likes tea", limit=1) == ["ana-likes-tea"]
    assert await found(3, "Bob likes", subject="bob") == ["bob-likes-rum"]
    assert sorted(await found(6, "Bob likes", subject="tea")) == [
        "ana-likes-tea",
        "ana-sells-tea",
        "bob-likes-tea",
    ]


async def test_a_fact_comes_with_the_text_that_says_it(graph: Graph, group: str) -> None:
    one = episode(group, "e1", content="Bob says: tea!")
    two = episode(group, "e2", content="x" * (SOURCE_CHARACTERS + 5), sequence=2)
    ana, tea = entity(group, "Ana"), entity(group, "Tea")
    likes = fact(ana, "LIKES", tea, support=supported(["e1"]))
    await graph.world(one, likes, entities=(ana, tea))
    await graph.receive(two)
    found = await ask(graph, two, Look("ana", "tea", day(1)))
    assert [n.source for n in found.near[0]] == ["Bob says: tea!"]
    assert found.source == "x" * SOURCE_CHARACTERS
    again = likes.model_copy(update={"support": supported(["e1", "e2"])})
    await graph.facts(two, facts=(FactWrite(again),))
    found = await ask(graph, two, Look("ana", "tea", day(1)))
    assert [n.source for n in found.near[0]] == ["x" * SOURCE_CHARACTERS]


async def test_the_slots_of_both_ends_of_a_symmetric_relation(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    await graph.entities(one, *(entity(group, name) for name in "abcdef"))
    stored = [
        evidence("ab", "a", "MARRIED_TO", "b", ONE, symmetric=True),
        evidence("ac", "a", "MARRIED_TO", "c", ONE, symmetric=True),
        evidence("ac-many", "a", "MARRIED_TO", "c", MANY, symmetric=True),
        evidence("bd", "b", "MARRIED_TO", "d", ONE, symmetric=True),
        evidence("de", "d", "MARRIED_TO", "e", ONE, symmetric=True),
        evidence("af-many", "a", "MARRIED_TO", "f", MANY, symmetric=True),
        evidence("other", "a", "LIVES_WITH", "c", ONE, symmetric=True),
        evidence("fb-directed", "f", "MARRIED_TO", "b", ONE),
    ]
    await graph.facts(one, evidence=stored)

    async def asked(*triplets: Triplet) -> list[str]:
        found = await graph.store.fact_graph(FactQuery(one.ref, triplets, ()))
        return sorted(item.id for item in found.evidence)

    assert await asked(Triplet("a", "MARRIED_TO", "b", True, symmetric=True)) == ["ab", "ac", "ac-many", "bd"]
    assert await asked(Triplet("a", "MARRIED_TO", "b", False, symmetric=True)) == ["ab"]
    assert await asked(Triplet("e", "MARRIED_TO", "x", True, symmetric=True)) == ["de"]
    assert await asked(Triplet("c", "MARRIED_TO", "d", True)) == []
