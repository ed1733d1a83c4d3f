"""Merging, parting and correcting by hand: history is kept, and each of them can be taken back."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pipeline.curation.correcting import FactCorrection
from pipeline.errors import Poison
from pipeline.graph.ledger import Ledger
from pipeline.model.changes import Change
from pipeline.model.fact import view
from pipeline.model.provenance import Correction, Joined
from tests.contract.curation_kit import AlwaysSame, Teller, believed, says
from tests.contract.kit import Graph, day

PEOPLE = ("Person", "Place")


def placed(ledger: Ledger) -> list[tuple[str, str, str, tuple[str, ...]]]:
    """Who is mentioned where, and between whom each fact stands."""
    names = {i: e.name for i, e in ledger.entities.items()}
    facts = [
        (f.id, names[f.source.id], names[f.target.id], f.episodes_at())
        for f in ledger.facts.values()
        if f.beliefs[-1].holds
    ]
    mentions = [
        (c.episode_id, names[c.entity_id], str(t.index), (t.mention.name,))
        for c in ledger.contributions.values()
        for t in c.told
    ]
    return sorted([*facts, *mentions])


async def two_people(teller: Teller) -> tuple[str, str]:
    await teller.tell(
        says("Robert Roe", "LIVES_IN", "Lima", types=PEOPLE, cardinality="one", valid_at="2024-01-01")
    )
    await teller.tell(
        says("Bobby", "LIVES_IN", "Quito", types=PEOPLE, cardinality="one", valid_at="2024-02-01")
    )
    await teller.tell(says("Bobby", "LIKES", "Tea"), says("Robert Roe", "LIKES", "Tea"))
    return await teller.named("Robert Roe"), await teller.named("Bobby")


async def test_two_entities_become_one_and_part_again(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    robert, bobby = await two_people(teller)
    before = await teller.ledger()
    teller.now += timedelta(hours=1)
    done = await teller.operator.merge(group, bobby, robert, "the same badge")
    one = await teller.ledger()
    assert bobby not in one.entities
    assert one.entities[robert].name == "Robert Roe"
    assert one.entities[robert].aliases == ("Bobby",)
    assert {"Robert Roe LIVES_IN Lima", "Robert Roe LIVES_IN Quito", "Robert Roe LIKES Tea"} == {
        told for told, *_ in believed(one)
    }
    lima = next(f for f in one.facts.values() if f.target.name == "Lima")
    assert lima.beliefs[-1].invalid_at == day(32)
    # What was believed before the merge is known as it was.
    known = view(lima, teller.now - timedelta(minutes=1))
    assert known is not None
    assert known.invalid_at is None
    assert {Change.invalidated, Change.retracted, Change.supported} <= {c.change for c in done.changes}
    (record,) = one.merges.values()
    assert (record.by, record.reason, record.name, record.keys) == (
        Joined.operator,
        "the same badge",
        "Bobby",
        ("bobby",),
    )
    assert {m.episode_id for m in record.mentions} == {"e2", "e3"}
    assert await graph.found(group, "bobby", as_of=None) != []
    # Who comes by the name from now on is the same; when they part, that goes with it.
    await teller.tell(says("bobby", "LIKES", "Rum"))
    assert [e.id for e in (await teller.ledger()).entities.values() if "bobby" in e.keys] == [robert]
    teller.now += timedelta(hours=1)
    await teller.operator.undo_merge(group, record.id)
    parted = await teller.ledger()
    left = [row for row in placed(parted) if row[0] != "e4" and "e4" not in row[-1]]
    assert left == placed(before)
    assert parted.entities[bobby].name == "Bobby"
    assert parted.entities[robert].aliases == ()
    assert "bobby likes Rum" in {f.fact for f in parted.facts.values() if f.source.id == bobby}
    assert parted.merges[record.id].undone_at == teller.now
    with pytest.raises(Poison, match="undone before"):
        await teller.operator.undo_merge(group, record.id)
    with pytest.raises(Poison, match="no merge"):
        await teller.operator.undo_merge(group, "nothing")


async def test_what_a_judge_joined_is_recorded_and_can_be_parted(graph: Graph, group: str) -> None:
    teller = Teller(graph, group, AlwaysSame())
    await teller.tell(says("Acme Corp", "MAKES", "Anvils", types=("Company", "Thing")))
    await teller.tell(says("Acme Corporation", "MAKES", "Rope", types=("Company", "Goods")))
    acme = await teller.named("Acme Corp")
    (record,) = [m for m in (await teller.ledger()).merges.values() if m.into == acme]
    assert (record.by, record.name, record.keys) == (Joined.judge, "Acme Corporation", ("acme corporation",))
    await teller.tell(says("Acme Corporation", "MAKES", "Glue", types=("Company", "Stuff")))
    await teller.operator.undo_merge(group, record.id)
    parted = await teller.ledger()
    other = parted.entities[record.apart]
    assert (other.name, other.type, parted.entities[acme].aliases) == ("Acme Corporation", "Company", ())
    assert {f.target.name for f in parted.facts.values() if f.source.id == other.id} == {"Rope", "Glue"}
    assert {f.target.name for f in parted.facts.values() if f.source.id == acme} == {"Anvils"}
    # It stays apart when its neighbours are resolved again.
    await teller.operator.forget_episodes(group, ["e3"])
    again = await teller.ledger()
    assert {e.name for e in again.entities.values()} == {"Acme Corp", "Anvils", "Acme Corporation", "Rope"}


async def test_an_entity_is_set_right_and_the_correction_can_be_forgotten(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Jon Smit", "LIVES_IN", "Lima", types=("Company", "Place")))
    jon = await teller.named("Jon Smit")
    teller.now += timedelta(hours=1)
    done = await teller.operator.correct_entity(
        group, jon, Correction(name="John Smith", type="Person", attributes={"vip": True})
    )
    now = await graph.reader.entity(group, jon)
    assert now is not None
    assert (now.name, now.type, now.aliases, now.attributes) == (
        "John Smith",
        "Person",
        ("Jon Smit",),
        {"vip": True},
    )
    (change,) = done.changes
    assert (change.change, change.fact.source.name, change.revision) == (Change.supported, "John Smith", 2)
    assert await graph.found(group, "smith") == [change.fact.id]
    own = await graph.reader.episode(group, done.episode or "")
    assert own is not None
    assert (own.state.value, [e.id for e in own.entities]) == ("committed", [jon])
    # What comes later adds to it, by either name, and renames nothing.
    await teller.tell(says("jon smit", "LIKES", "Tea"))
    assert (await teller.ledger()).entities[jon].name == "John Smith"
    await teller.operator.forget_episodes(group, [done.episode or ""])
    back = await graph.reader.entity(group, jon)
    assert back is not None
    assert (back.name, back.type, back.attributes) == ("Jon Smit", "Company", {})
    assert await graph.store.traces(group, "John Smith") == ()


async def test_when_a_fact_holds_is_set_right(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "LIVES_IN", "Lima", cardinality="one", valid_at="2024-01-01"))
    (lima,) = (await teller.ledger()).facts
    teller.now += timedelta(hours=1)
    done = await teller.operator.correct_fact(group, lima, FactCorrection(ends=(day(60), None)))
    fact = await graph.reader.fact(group, lima)
    assert fact is not None
    belief = fact.beliefs[-1]
    assert (belief.valid_at, belief.invalid_at, belief.closing_rule) == (day(1), day(60), "operator")
    assert (belief.closed_by, len(fact.beliefs)) == (done.episode, 2)
    assert [c.change for c in done.changes] == [Change.invalidated]
    teller.now += timedelta(hours=1)
    later = await teller.operator.correct_fact(group, lima, FactCorrection(starts=(day(10), None)))
    fact = await graph.reader.fact(group, lima)
    assert fact is not None
    assert (fact.beliefs[-1].valid_at, fact.beliefs[-1].invalid_at) == (day(10), day(60))
    assert [c.change for c in later.changes] == [Change.supported]
    teller.now += timedelta(hours=1)
    opened = await teller.operator.correct_fact(group, lima, FactCorrection(ends=(None, None)))
    assert [c.change for c in opened.changes] == [Change.reopened]
    # Without the corrections all is as it was, and nothing but their own episodes was in the way.
    for episode in (done.episode, later.episode, opened.episode):
        await teller.operator.forget_episodes(group, [episode or ""])
    fact = await graph.reader.fact(group, lima)
    assert fact is not None
    assert [(b.valid_at, b.invalid_at) for b in fact.beliefs] == [(day(1), None)]


async def test_a_fact_that_is_taken_back_frees_its_slot(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "LIVES_IN", "Lima", cardinality="one", valid_at="2024-01-01"))
    await teller.tell(says("Ana", "LIVES_IN", "Quito", cardinality="one", valid_at="2024-02-01"))
    quito = next(f.id for f in (await teller.ledger()).facts.values() if f.target.name == "Quito")
    teller.now += timedelta(hours=1)
    done = await teller.operator.correct_fact(group, quito, FactCorrection(retract=True))
    assert sorted(c.change for c in done.changes) == [Change.reopened, Change.retracted]
    after = await teller.ledger()
    assert [told for told, *_ in believed(after)] == ["Ana LIVES_IN Lima"]
    known = view(after.facts[quito], teller.now - timedelta(minutes=1))
    assert known is not None
    assert known.target.name == "Quito"
    assert "Quito" not in after.entities[await teller.named("Ana")].summary
    with pytest.raises(Poison, match="believed at no time"):
        await teller.operator.correct_fact(group, quito, FactCorrection(retract=True))
    # Said anew, it is believed anew.
    await teller.tell(says("Ana", "LIVES_IN", "Quito", cardinality="one", valid_at="2024-03-01"), at=61)
    assert "Ana LIVES_IN Quito" in {told for told, *_ in believed(await teller.ledger())}


async def test_a_correction_of_what_is_forgotten_goes_with_it(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "LIVES_IN", "Zanzibar"))
    (fact,) = (await teller.ledger()).facts
    await teller.operator.correct_fact(group, fact, FactCorrection(ends=(day(60), None)))
    await teller.operator.forget_episodes(group, ["e1"])
    after = await teller.ledger()
    assert not after.facts
    assert not after.entities
    assert await graph.store.traces(group, "Zanzibar") == ()


async def test_what_cannot_be_corrected_is_said(graph: Graph, group: str, other_group: str) -> None:
    teller, other = Teller(graph, group), Teller(graph, other_group)
    await teller.tell(says("Ana", "LIVES_IN", "Lima", valid_at="2024-02-01"))
    await other.tell(says("Ana", "LIVES_IN", "Lima"))
    (fact,), ana = (await teller.ledger()).facts, await teller.named("Ana")
    operator = teller.operator
    for call, said in (
        (operator.correct_fact(group, fact, FactCorrection(ends=(day(1), None))), "end after it starts"),
        (operator.correct_fact(group, fact, FactCorrection()), "nothing is to be corrected"),
        (operator.correct_fact(other_group, fact, FactCorrection(retract=True)), "no fact"),
        (operator.correct_entity(other_group, ana, Correction(name="X")), "no entity"),
        (operator.correct_entity(group, ana, Correction()), "nothing is to be corrected"),
        (operator.correct_entity(group, ana, Correction(name=" ")), "visible character"),
        (operator.merge(group, ana, ana), "into itself"),
        (operator.merge(group, ana, "nobody"), "no entity"),
        (operator.forget_group("nothing here"), "is empty"),
    ):
        with pytest.raises(Poison, match=said):
            await call
