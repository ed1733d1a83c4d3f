"""Rebuilding: a group made anew from its log says what the log says, whatever the graph had become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pipeline.curation.correcting import FactCorrection
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.ledger import CurationCommit, Ledger
from pipeline.model.changes import Change, FactChange
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.provenance import Correction
from pipeline.stages.judging import LookAlike, SameAs
from pipeline.timeline.precision import Precision
from pipeline.timeline.reconcile import Occasion, event_of
from tests.contract.curation_kit import Teller, says
from tests.contract.kit import Graph, day
from tests.contract.rebuild_kit import ListLog, Published, current, rebuild, stated


def left_in(folder: Path) -> list[Path]:
    """What rebuilds have left behind."""
    return list(folder.glob("*rebuild/*"))


def lives(who: str, place: str, at: str) -> dict[str, object]:
    return says(who, "LIVES_IN", place, cardinality="one", valid_at=at, types=("Person", "Place"))


class InTime(Teller):
    """One whose episodes stand where a log would have taken them, so that operators act between them."""

    def episode(self, triples: Sequence[dict[str, Any]], at: int = 1, name: str | None = None) -> Episode:
        self.count = round(self.now.timestamp() * 1000) << 20
        return super().episode(triples, at, name)


class ByName:
    """A judge that takes everything that it is asked about for the candidate of one name."""

    def __init__(self) -> None:
        self.asked = 0

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        self.asked += 1
        found = {q.index: SameAs(c.id) for q in questions for c in q.candidates if c.name == "Ana"}
        return found, Usage(llm_calls=1)


async def told(graph: Graph, group: str, judge: Any = None) -> Teller:
    """A group with closed facts, supported facts and two communities."""
    teller = InTime(graph, group, judge)
    await teller.tell(lives("Ana", "Lima", "2024-01-01"), says("Ana", "KNOWS", "Bob"), at=1)
    await teller.tell(lives("Ana", "Quito", "2024-03-01"), at=60)
    await teller.tell(says("Ana", "KNOWS", "Bob"), says("Cem", "OWNS", "Boat"), at=61)
    await teller.tell(lives("Bob", "Oslo", "2024-02-01"), at=62)
    await teller.communities().rebuild(group)
    return teller


def same(one: Ledger, other: Ledger) -> bool:
    """Whether two ledgers say the same, lanes aside."""
    return replace(one, lanes={}) == replace(other, lanes={})


async def damage(teller: Teller) -> Ledger:
    """Takes away and falsifies, as a bug might have; answers how it was."""
    before = await teller.ledger()
    facts = sorted(before.facts.values(), key=lambda f: f.id)
    false = facts[1].model_copy(update={"fact": "something else", "revision": facts[1].revision + 5})
    entity = next(e for e in before.entities.values() if e.name == "Cem")
    await teller.graph.store.commit_curation(
        CurationCommit(
            group_id=teller.group,
            lanes=before.lanes,
            at=teller.clock(),
            removed_facts=(facts[0].id,),
            removed_evidence=(sorted(before.evidence)[0],),
            removed_mentions=(sorted(before.contributions)[0],),
            facts=(FactWrite(false, [1.0] + [0.0] * 383),),
            entities=(
                EntityWrite(entity.model_copy(update={"name": "Cem Falsified", "aliases": ("X",)}), None),
            ),
        )
    )
    return before


async def test_a_graph_that_is_right_stays_as_it_is(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await told(graph, group)
    before = await teller.ledger()
    done = await rebuild(teller, tmp_path)
    assert (done.episodes, done.changed, done.changes, dict(done.dead)) == (4, 0, (), {})
    assert same(await teller.ledger(), before)
    assert left_in(tmp_path) == []


async def test_a_damaged_graph_is_made_whole(
    graph: Graph, group: str, other_group: str, tmp_path: Path
) -> None:
    teller, other = await told(graph, group), await told(graph, other_group)
    neighbour = await other.ledger()
    before = await damage(teller)
    assert not same(await teller.ledger(), before)
    published = Published()
    done = await rebuild(teller, tmp_path, publish=published)
    after = await teller.ledger()
    assert {i: f.beliefs for i, f in after.facts.items()} == {i: f.beliefs for i, f in before.facts.items()}
    assert after.entities == before.entities
    assert after.evidence == before.evidence
    assert {k: (c.told, c.at) for k, c in after.contributions.items()} == {
        k: (c.told, c.at) for k, c in before.contributions.items()
    }
    assert done.changed > 0
    assert {c.change for c in published.changes} <= {Change.asserted, Change.supported, Change.reopened}
    assert current(published.changes).items() <= stated(after).items()
    assert same(await other.ledger(), neighbour)


async def test_a_wiped_graph_comes_back_from_the_log(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = Teller(graph, group)
    log = ListLog()
    for number, triple in enumerate(
        (lives("Ana", "Lima", "2024-01-01"), lives("Ana", "Quito", "2024-03-01"), says("Ana", "KNOWS", "Bob"))
    ):
        log.raw.append(teller.episode([triple], at=number + 1))  # e1, e2, e3
    published = Published()
    done = await rebuild(teller, tmp_path, log, publish=published)
    ledger = await teller.ledger()
    assert done.episodes == 3
    assert len(ledger.facts) == 3
    assert current(published.changes) == stated(ledger)
    (swapped,) = published.swapped
    assert dict(swapped.settled) == dict.fromkeys(("e1", "e2", "e3"), EpisodeState.committed)
    known = {k.id: k for k in await graph.store.known_episodes(group)}
    assert {k.state for k in known.values()} == {EpisodeState.committed}
    stored = await graph.reader.episode(group, "e2")
    assert stored is not None
    assert [f.fact for f in stored.facts] == ["Ana lives in Quito"]
    # It was learned when the log took it.
    assert {f.beliefs[0].known_from for f in ledger.facts.values()} == {day(1), day(2), day(3)}
    # What comes later is placed behind it, and takes effect.
    teller.now = day(50)
    await teller.tell(lives("Ana", "Oslo", "2024-04-01"), at=5)
    places = {c.episode_id: c.place for c in (await teller.ledger()).contributions.values()}
    assert max(places, key=lambda e: places[e]) == "e4"
    # Redelivered events of what came back do nothing.
    before = await teller.ledger()
    received = await teller.extract().admit(log.raw[0])
    assert received.mark is not None
    assert same(await teller.ledger(), before)


async def test_a_forgotten_episode_stays_forgotten(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = Teller(graph, group)
    log = ListLog(raw=[await teller.tell(lives("Ana", "Lima", "2024-01-01"))])
    log.raw.append(await teller.tell(lives("Ana", "Canary", "2024-02-01")))
    done = await teller.operator.forget_episodes(group, ["e2"])
    await teller.operator.sent(done)
    await rebuild(teller, tmp_path, log)
    assert await graph.store.traces(group, "Canary") == ()
    assert await graph.reader.episode(group, "e2") is None


async def test_one_that_is_forgotten_while_the_shadow_is_filled_is_forgotten_there_too(
    graph: Graph, group: str, tmp_path: Path
) -> None:
    teller = Teller(graph, group)
    log = ListLog(raw=[await teller.tell(lives("Ana", "Lima", "2024-01-01"))])
    log.raw.append(await teller.tell(lives("Ana", "Canary", "2024-02-01")))

    class Forgetting(ListLog):
        looks = 0

        async def refresh(self) -> None:
            self.looks += 1
            if self.looks == 2:
                await teller.operator.forget_episodes(group, ["e2"])

    await rebuild(teller, tmp_path, Forgetting(raw=log.raw))
    assert await graph.store.traces(group, "Canary") == ()


async def test_what_operators_did_is_done_again(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await told(graph, group)
    operator = teller.operator
    lima = next(f for f in (await teller.ledger()).facts.values() if f.target.name == "Lima")
    await operator.correct_fact(group, lima.id, FactCorrection(ends=(day(20), Precision.day)))
    cem = await teller.named("Cem")
    teller.now += timedelta(seconds=0.1)
    await operator.correct_entity(
        group, cem, Correction(name="Djem", type="Person", attributes={"vip": True})
    )
    await teller.tell(says("Djem", "KNOWS", "Ana", types=("Person", "Person")), at=70)
    merged = await operator.merge(group, await teller.named("Bob"), await teller.named("Ana"), "same badge")
    await teller.tell(lives("Bob", "Rome", "2024-04-02"), at=90)
    await teller.communities().rebuild(group)
    before = await teller.ledger()
    done = await rebuild(teller, tmp_path)
    after = await teller.ledger()
    assert dict(done.set_aside) == {}
    assert after.merges == before.merges
    assert after.entities == before.entities
    assert {i: f.beliefs for i, f in after.facts.items()} == {i: f.beliefs for i, f in before.facts.items()}
    assert done.changed == 0
    # It can still be taken back.
    assert merged.merge is not None
    await operator.undo_merge(group, merged.merge.id)
    await teller.communities().rebuild(group)
    parted = await teller.ledger()
    assert (await rebuild(teller, tmp_path)).changed == 0
    assert same(await teller.ledger(), parted)


async def test_consumers_that_hold_something_else_are_told(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await told(graph, group)
    ledger = await teller.ledger()
    held = _as_told(ledger)
    stale = held[0].model_copy(update={"revision": held[0].revision + 7, "change": Change.retracted})
    phantom = held[1].model_copy(
        update={"fact": held[1].fact.model_copy(update={"id": "phantom"}), "revision": 3}
    )
    log = ListLog(
        raw=list(await graph.store.raw_episodes(group, sorted(ledger.episodes))),
        changes=[*held, stale, phantom],
    )
    published = Published()
    await rebuild(teller, tmp_path, log, publish=published)
    after = await teller.ledger()
    assert current([*log.changes, *published.changes]) == stated(after)
    assert {c.fact.id for c in published.changes} == {held[0].fact.id, "phantom"}
    # Told once: the next rebuild has nothing to tell.
    log.changes += published.changes
    again = Published()
    await rebuild(teller, tmp_path, log, publish=again)
    assert again.swapped == []


def _as_told(ledger: Ledger) -> list[FactChange]:
    return [
        event_of(Change.asserted, fact, Occasion(ledger.group_id, "e", day(1)))
        for fact in ledger.facts.values()
        if fact.beliefs[-1].holds
    ]


async def test_judges_answer_from_the_record(graph: Graph, group: str, tmp_path: Path) -> None:
    judge = ByName()
    teller = await told(graph, group, judge)
    await teller.tell(says("Ana Maria", "KNOWS", "Bob"), at=80)
    await teller.communities().rebuild(group)
    before, asked = await teller.ledger(), judge.asked
    assert before.merges
    assert before.judged
    # Nobody is there to be asked.
    done = await rebuild(teller, tmp_path, entity_judge=None)
    assert (done.changed, done.unrecorded, judge.asked) == (0, 0, asked)
    assert (await teller.ledger()).judged == before.judged
    assert (await teller.ledger()).merges == before.merges
    assert same(await teller.ledger(), before)
    # The graph is lost, and the log has the records.
    raw = list(await graph.store.raw_episodes(group, sorted(before.episodes)))
    await teller.operator.forget_group(group)
    log = ListLog(
        [e.model_copy(update={"group_id": f"{group}-again"}) for e in raw], records=[*before.judged.values()]
    )
    again = InTime(graph, f"{group}-again")
    done = await rebuild(again, tmp_path, log)
    after = await again.ledger()
    assert done.unrecorded == 0
    assert {e.name: e.aliases for e in after.entities.values()} == {
        e.name: e.aliases for e in before.entities.values()
    }
    assert after.judged
    assert after.judged.keys() <= before.judged.keys()
    await again.operator.forget_group(again.group)


async def test_a_judge_is_asked_what_has_no_record(graph: Graph, group: str, tmp_path: Path) -> None:
    teller = await told(graph, group)
    await teller.tell(says("Ana Maria", "KNOWS", "Bob"), at=80)
    raw = await graph.store.raw_episodes(group, sorted((await teller.ledger()).episodes))
    judge, published = ByName(), Published()
    done = await rebuild(teller, tmp_path, ListLog(list(raw)), entity_judge=judge, publish=published)
    after = await teller.ledger()
    assert done.unrecorded >= judge.asked > 0
    assert "Ana Maria" not in {e.name for e in after.entities.values()}
    assert published.swapped[0].judged == after.judged
    assert current(published.changes).keys() <= stated(after).keys()
