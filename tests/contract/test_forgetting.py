"""Taking back: nothing of it is left, everything else is as it would have been, and it does not come back."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from pipeline.errors import Fenced, Poison, Retryable
from pipeline.graph.ledger import FENCED_STAGES, CurationCommit, Ledger
from pipeline.model.changes import Change
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from tests.contract.curation_kit import Teller, believed, says
from tests.contract.kit import Graph, day, entity, episode

CANARY = "Zanzibar Canary"


def lives(place: str, at: str, **more: object) -> dict[str, object]:
    return says("Ana", "LIVES_IN", place, cardinality="one", valid_at=at, types=("Person", "Place"), **more)


async def test_no_word_of_a_forgotten_episode_is_left(graph: Graph, group: str, other_group: str) -> None:
    teller, other = Teller(graph, group), Teller(graph, other_group)
    for one in (teller, other):
        await one.tell(lives("Lima", "2024-01-01"), at=1)
        said = lives(CANARY, "2024-02-01", attributes={"why": [CANARY]})
        said["subject"] = {"name": "ANA", "type": "Person", "attributes": {"nick": CANARY}}
        await one.tell(said, says(CANARY, "NEAR", "Sea", types=(f"{CANARY} type", None)), at=32)
        await one.tell(says("Ana", "KNOWS", "Bob"), at=40)
    before = await teller.ledger()
    kinds = {trace.kind for trace in await graph.store.traces(group, CANARY)}
    assert {"Episodic", "Entity", "RELATES_TO", "Community"} <= kinds or {
        "episode",
        "entity",
        "fact",
    } <= kinds
    done = await teller.operator.forget_episodes(group, ["e2"])
    assert await graph.store.traces(group, CANARY) == ()
    assert await graph.store.traces(group, "zanzibar") == ()
    assert await graph.store.traces(other_group, CANARY)
    after = await teller.ledger()
    assert sorted(e.name for e in after.entities.values()) == ["Ana", "Bob", "Lima"]
    assert believed(after) == [
        ("Ana KNOWS Bob", "Ana knows Bob", "2024-02-09", None),
        ("Ana LIVES_IN Lima", "Ana lives in Lima", "2024-01-01", None),
    ]
    lima = next(f for f in after.facts.values() if f.target.name == "Lima")
    # Nobody ever knew of an end, so there is one belief; the fact is the one that it was.
    assert (lima.id in before.facts, len(lima.beliefs)) == (True, 1)
    told = {(c.change, c.fact.id): c for c in done.changes}
    assert told[Change.reopened, lima.id].revision > before.facts[lima.id].revision
    lost = [c for c in done.changes if c.change is Change.retracted]
    assert [c.fact.id for c in lost] == sorted(before.facts.keys() - after.facts.keys())
    assert (
        CANARY.lower() not in orjson.dumps([c.model_dump(mode="json") for c in done.changes]).decode().lower()
    )
    assert believed(await other.ledger()) != believed(after)


async def test_a_forgotten_episode_does_not_come_back(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(lives("Lima", "2024-01-01"))
    gone = teller.episode([lives("Quito", "2024-02-01")])
    extracted = (await teller.extract().run(gone)).output or ""
    resolved = (await teller.entities().run(ExtractedEpisode.model_validate_json(extracted))).output or ""
    await teller.operator.forget_episodes(group, [gone.id])
    assert await graph.reader.episode(group, gone.id) is None
    calm = await teller.ledger()
    # Each stage is given again what had been on its way.
    received = await graph.store.receive(gone, None, 4, day(1))
    assert received.mark is not None
    assert received.mark.output is None
    assert (await teller.extract().run(gone)).output is None
    assert (await teller.entities().run(ExtractedEpisode.model_validate_json(extracted))).output is None
    late = await teller.resolve_facts().run(ResolvedEpisode.model_validate_json(resolved))
    assert (late.output, late.repeated) == (None, True)
    assert (await teller.communities().run(gone.ref, [])).repeated
    await graph.store.mark_dead(group, gone.id, "too late")
    await graph.store.revive(group, gone.id)
    assert await graph.reader.episode(group, gone.id) is None
    assert await teller.ledger() == calm
    with pytest.raises(Poison, match="has no episode"):
        await teller.operator.forget_episodes(group, [gone.id])


async def test_an_entity_is_made_anew_of_the_mentions_that_are_left(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    first = says("ACME ", "IN", "Lima")
    first["subject"]["attributes"] = {"tier": "gold", "since": 1}
    second = says("Acme", "IN", "Lima", types=("Company", None))
    second["subject"]["attributes"] = {"tier": "silver"}
    await teller.tell(first)
    await teller.tell(second)
    (acme,) = [e for e in (await teller.ledger()).entities.values() if e.keys == ("acme",)]
    assert (acme.name, acme.type, acme.attributes) == ("ACME ", "Company", {"tier": "silver", "since": 1})
    await teller.operator.forget_episodes(group, ["e1"])
    now = await graph.reader.entity(group, acme.id)
    assert now is not None
    assert (now.name, now.type, now.attributes) == ("Acme", "Company", {"tier": "silver"})
    assert now.created_at > acme.created_at
    assert [e.name for e in (await teller.ledger()).entities.values() if e.keys == ("lima",)] == ["Lima"]


async def test_forgetting_an_entity_takes_the_episodes_that_tell_of_it(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    await teller.tell(says("Bob", "KNOWS", "Cyd"))
    await teller.tell(says("Cyd", "KNOWS", "Dee"))
    done = await teller.operator.forget_entity(group, "ｂｏｂ")
    assert done.forgotten == ("e1", "e2")
    assert sorted(e.name for e in (await teller.ledger()).entities.values()) == ["Cyd", "Dee"]
    with pytest.raises(Poison, match="no entity"):
        await teller.operator.forget_entity(group, "Bob")


async def test_a_whole_group_is_erased_and_its_episodes_stay_away(
    graph: Graph, group: str, other_group: str
) -> None:
    teller, other = Teller(graph, group), Teller(graph, other_group)
    for one in (teller, other):
        await one.tell(says("Ana", "KNOWS", CANARY))
        await one.tell(says("Ana", "KNOWS", "Bob"))
    await teller.operator.forget_episodes(group, ["e2"])
    done = await teller.operator.forget_group(group)
    assert done.forgotten == ("e1",)
    assert [c.change for c in done.changes] == [Change.retracted]
    await teller.operator.sent(done)
    assert await graph.store.traces(group, CANARY) == ()
    empty = await teller.ledger()
    assert empty == Ledger(group, empty.lanes)
    for name in ("e1", "e2"):
        again = await graph.store.receive(episode(group, name), None, 4, day(1))
        assert again.mark is not None
        assert await graph.reader.episode(group, name) is None
    assert await graph.found(group, "Ana") == []
    assert len((await other.ledger()).facts) == 2
    await teller.tell(says("Ana", "KNOWS", "Eve"), name="new")
    assert [e for e, *_ in believed(await teller.ledger())] == ["Ana KNOWS Eve"]
    assert len(await graph.found(group, "eve")) == 1


async def test_an_erased_group_whose_marks_are_dropped_is_as_new(
    graph: Graph, group: str, other_group: str
) -> None:
    teller, other = Teller(graph, group), Teller(graph, other_group)
    for one in (teller, other):
        await one.tell(says("Ana", "KNOWS", "Bob"), name="same")
        await one.operator.forget_group(one.group)
    await graph.store.drop_marks(group)
    assert (await graph.store.receive(episode(group, "same"), None, 4, day(1))).mark is None
    assert (await graph.store.receive(episode(other_group, "same"), None, 4, day(1))).mark is not None
    await teller.tell(says("Ana", "KNOWS", "Eve"), name="same again")
    assert [e for e, *_ in believed(await teller.ledger())] == ["Ana KNOWS Eve"]


@pytest.mark.parametrize("stage", FENCED_STAGES)
async def test_a_curation_is_fenced_by_every_lane(graph: Graph, group: str, stage: str) -> None:
    teller = Teller(graph, group)
    one = await teller.tell(says("Ana", "KNOWS", "Bob"))
    read = await teller.ledger()
    stale = replace_lane(dict(read.lanes), stage)
    commit = CurationCommit(group, stale, day(3), forgotten=(one.id,), removed_facts=tuple(read.facts))
    with pytest.raises(Fenced):
        await graph.store.commit_curation(commit)
    with pytest.raises(Fenced):
        await graph.store.erase_group(group, stale, (one.id, "{}"))
    assert await teller.ledger() == read
    await graph.store.commit_curation(replace(commit, lanes=read.lanes, forgotten=(), removed_facts=()))
    after = await teller.ledger()
    assert all(after.lanes[s] == read.lanes[s] + 1 for s in FENCED_STAGES)


def replace_lane(lanes: dict[str, int], stage: str) -> dict[str, int]:
    return lanes | {stage: lanes[stage] - 1}


async def test_a_stage_that_read_before_a_curation_is_fenced(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    await teller.operator.forget_episodes(group, ["e1"])
    two = episode(group, "e2", sequence=2)
    await graph.receive(two)
    with pytest.raises(Fenced):
        await graph.entities(two, entity(group, "Ana"), lane_version=1)


async def test_what_is_on_its_way_keeps_the_entity_that_it_speaks_of(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob", types=("Person", "Person")))
    await teller.resolve(teller.episode([says("Cyd", "KNOWS", "Dee")]))
    cyd, bob = await teller.named("Cyd"), await teller.named("Bob")
    with pytest.raises(Retryable, match="between two stages"):
        await teller.operator.merge(group, cyd, bob)
    done = await teller.operator.forget_episodes(group, ["e2"])
    assert done.forgotten == ("e2",)
    assert cyd not in (await teller.ledger()).entities


async def test_outputs_that_wait_are_told_in_present_words(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(lives(CANARY, "2024-01-01"))
    await teller.facts_of(teller.episode([lives("Lima", "2024-02-01")]))
    waiting = (await teller.ledger()).outputs["e2", "resolve_facts"]
    assert CANARY in waiting
    await teller.operator.forget_episodes(group, ["e1"])
    kept = (await teller.ledger()).outputs["e2", "resolve_facts"]
    assert CANARY not in kept
    assert [c["fact"]["target"]["name"] for c in orjson.loads(kept)["changes"]] == ["Lima"]


async def test_changes_are_kept_until_they_are_published(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    done = await teller.operator.forget_episodes(group, ["e1"])
    (waiting,) = await teller.operator.unsent(group)
    assert (waiting.changes, waiting.forgotten) == (done.changes, ("e1",))
    await teller.operator.sent(waiting)
    assert await teller.operator.unsent(group) == []
    assert (await graph.store.receive(episode(group, "e1"), None, 4, day(1))).mark is not None


async def test_search_finds_nothing_of_what_is_gone_and_all_that_is_left(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(lives("Lima", "2024-01-01"))
    await teller.tell(lives("Quito", "2024-02-01"))
    assert await graph.found(group, "lima", as_of=day(60)) == []
    await teller.operator.forget_episodes(group, ["e2"])
    assert await graph.found(group, "quito") == []
    assert len(await graph.found(group, "lima", as_of=day(60))) == 1
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert (read.state, [f.target.name for f in read.facts]) == (EpisodeState.committed, ["Lima"])
    (community,) = (await teller.ledger()).communities.values()
    assert sorted(community.name.split(", ")) == ["Ana", "Lima"]
    assert community.summary == "Ana lives in Lima."
