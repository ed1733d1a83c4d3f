"""The search for a text finds it wherever it is kept, and says where; and what a ledger tells is what was stored."""

from __future__ import annotations

import pytest

from pipeline.curation.correcting import FactCorrection
from pipeline.model.provenance import Correction, Joined
from tests.contract.curation_kit import AlwaysSame, Teller, says
from tests.contract.kit import Graph, community, day, entity, episode, fact, supported


@pytest.mark.parametrize("canary", ["Zanzibar", 'say "Zänzibar"\n\\', "桑给巴尔", "ZANZIBAR Café"])
async def test_a_text_is_found_wherever_it_stands(graph: Graph, group: str, canary: str) -> None:
    one = episode(group, "e1", f"about {canary}", metadata={"where": f"in {canary}!"})
    ana, bob = entity(group, "Ana", attributes={"seen": [f"at {canary}"]}), entity(group, "Bob")
    await graph.receive(one)
    await graph.entities(one, ana, bob)
    await graph.facts(one, fact(ana, "KNOWS", bob, fact=f"Ana met Bob: {canary}", support=supported(["e1"])))
    club = community(group, "Club", summary=f"They met: {canary}.")
    await graph.communities(group, one, club, moves={"ana": "club"})
    found = {(t.kind.lower(), t.id) for t in await graph.store.traces(group, canary.upper())}
    kinds = {kind for kind, _ in found}
    assert kinds >= {"entity", "community"}
    assert kinds & {"episode", "episodic"}
    assert kinds & {"fact", "relates_to"}
    assert ("community", "club") in found
    assert await graph.store.traces(group, "Zanzibaar") == ()


async def test_traces_are_those_of_the_group_alone(graph: Graph, group: str, other_group: str) -> None:
    await graph.receive(episode(other_group, "e1", "about Zanzibar"))
    assert await graph.store.traces(group, "Zanzibar") == ()
    assert await graph.store.traces(other_group, "Zanzibar") != ()


async def test_every_mention_is_kept_word_for_word(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    first = says("Ana", "KNOWS", "Bob")
    first["subject"]["attributes"] = {"a": [1, {"b": None}]}
    await teller.tell(first, says("ANA", "LIKES", "Tea"))
    ledger = await teller.ledger()
    ana = await teller.named("Ana")
    told = ledger.contributions["e1", ana].told
    assert [t.mention.name for t in told] == ["Ana"]
    assert {end for t in told for end in t.ends} == {(0, 0), (1, 0)}
    assert all(t.joined is Joined.rule for t in told)
    assert next(t for t in told if t.mention.name == "Ana").mention.attributes == {"a": [1, {"b": None}]}
    assert ledger.episodes == {"e1"}
    assert ledger.unfinished == frozenset()
    assert set(ledger.lanes.values()) == {1}


async def test_a_ledger_tells_what_is_unfinished_and_where_things_stand(graph: Graph, group: str) -> None:
    teller = Teller(graph, group, AlwaysSame())
    await teller.tell(says("Acme Corp", "MAKES", "Anvils", types=("Company", "Thing")))
    await teller.resolve(
        teller.episode([says("Acme Corporation", "MAKES", "Rope", types=("Company", "Goods"))])
    )
    ledger = await teller.ledger()
    assert ledger.unfinished == {"e2"}
    assert {stage for episode_id, stage in ledger.outputs if episode_id == "e2"} == {"resolve_entities"}
    (merge,) = ledger.merges.values()
    assert merge.mentions[0].episode_id == "e2"
    judged = [t for c in ledger.contributions.values() for t in c.told if t.joined is Joined.judge]
    assert [t.mention.name for t in judged] == ["Acme Corporation"]
    members = {name: set(c.members) for name, c in ledger.communities.items()}
    assert members == {
        name: {e.id for e in ledger.entities.values() if e.community_id == name}
        for name in ledger.communities
    }
    assert sum(map(len, members.values())) == 2


async def test_corrections_are_kept_whole(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    (fact_id,) = (await teller.ledger()).facts
    given = Correction(name="Anna", attributes={"a": {"b": [1, None]}})
    done = await teller.operator.correct_entity(group, await teller.named("Ana"), given)
    own = next(c for c in (await teller.ledger()).contributions.values() if c.episode_id == done.episode)
    assert [(t.correction, t.joined) for t in own.told] == [(given, Joined.operator)]
    ended = await teller.operator.correct_fact(group, fact_id, FactCorrection(ends=(day(90), None)))
    evidence = next(e for e in (await teller.ledger()).evidence.values() if e.episode_id == ended.episode)
    assert (evidence.rule, evidence.invalid_at, len(evidence.corrects)) == ("operator", day(90), 1)
