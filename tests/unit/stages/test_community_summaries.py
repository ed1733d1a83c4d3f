"""Summaries by a model come after a group has settled, cost nobody's episode anything, and may fail without harm."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Fenced, Parked, Poison, Retryable
from pipeline.graph.community_port import (
    CommunityCommit,
    CommunityTexts,
    CommunityView,
    CommunityWrite,
    GroupGraph,
)
from pipeline.graph.entity_port import EntityCommit, EntityWrite
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.community import Community
from pipeline.model.entity import Entity, SummaryLine
from pipeline.model.episode import Usage
from pipeline.stages.community_summaries import LONGEST, CommunitySummaries
from pipeline.stages.update_communities import UpdateCommunitiesStage
from tests.episodes import text
from tests.llm_support import RecordingObserver

START = datetime(2026, 1, 1, tzinfo=UTC)
SETTLE = 60.0
COST = Usage(llm_calls=1, prompt_tokens=100, completion_tokens=20)


class Clock:
    """A clock that tests move; who sleeps wakes when it has been moved far enough."""

    def __init__(self) -> None:
        self.now = START
        self._sleepers: list[tuple[datetime, asyncio.Event]] = []

    def __call__(self) -> datetime:
        return self.now

    async def sleep(self, seconds: float) -> None:
        woken = asyncio.Event()
        self._sleepers.append((self.now + timedelta(seconds=seconds), woken))
        await woken.wait()

    async def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        for due, woken in list(self._sleepers):
            if due <= self.now:
                self._sleepers.remove((due, woken))
                woken.set()
        for _ in range(20):
            await asyncio.sleep(0)


class Teller:
    """Tells how many members there are; `trouble` is raised first, each once."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.trouble: list[Exception] = []
        self.says: str | None = "Told by a model."

    async def tell(self, members: Sequence[Entity]) -> tuple[str | None, Usage]:
        self.asked.append([member.name for member in members])
        if self.trouble:
            raise self.trouble.pop(0)
        return self.says, COST


class Gate:
    """A budget that may be used up."""

    def __init__(self) -> None:
        self.empty = False
        self.noted = Usage()

    async def check(self, group_id: str) -> None:
        if self.empty:
            raise Parked("the budget is used up", START + timedelta(days=1))

    def note(self, group_id: str, usage: Usage) -> None:
        self.noted += usage


class Rig:
    """A community of three people with nine facts, in a file."""

    def __init__(self, store: SqliteGraphStore, reader: SqliteGraphReader) -> None:
        self.store, self.reader = store, reader
        self.clock, self.teller, self.gate, self.observer = Clock(), Teller(), Gate(), RecordingObserver()
        self.summaries = CommunitySummaries(
            store,
            self.teller,
            HashingEmbedder(),
            self.clock,
            self.observer,
            settle=SETTLE,
            gate=self.gate,
            sleep=self.clock.sleep,
        )

    async def fill(self, facts: int = 3) -> None:
        one = text("Words.", group_id="g", id="e1")
        await self.store.receive(one, None, 0, START)
        people = [_person(name, facts) for name in ("Ana", "Bob", "Cyd")]
        await self.store.commit_entities(
            EntityCommit(one.ref, 0, tuple(map(EntityWrite, people)), ("Ana",), "{}", Usage(), START)
        )
        community = Community(id="c", group_id="g", name="Trio", summary="By rule.", created_at=START)
        await self.store.commit_communities(
            CommunityCommit(
                "g",
                one.ref,
                0,
                (CommunityWrite(community, None),),
                {p.id: "c" for p in people},
                Usage(),
                START,
            )
        )

    async def summary(self) -> str:
        found = await self.reader.community("g", "c")
        assert found is not None
        return found.summary


def _person(name: str, facts: int) -> Entity:
    lines = tuple(SummaryLine(fact_id=f"{name}{i}", text=f"{name} did {i}.") for i in range(facts))
    return Entity(
        id=name,
        group_id="g",
        name=name,
        lines=lines,
        summary=" ".join(x.text for x in lines),
        created_at=START,
    )


@pytest.fixture
async def rig(tmp_path: Path) -> AsyncIterator[Rig]:
    store = SqliteGraphStore(tmp_path / "g.db", dimension=HashingEmbedder().dimension)
    reader = SqliteGraphReader(tmp_path / "g.db")
    await store.open()
    await reader.open()
    made = Rig(store, reader)
    await made.fill()
    yield made
    await made.summaries.stop()
    await reader.close()
    await store.close()


async def settled(rig: Rig) -> None:
    """Until nothing is under way; fails instead of hanging."""
    await asyncio.wait_for(rig.summaries.settled(), 20)


async def test_it_waits_until_the_group_is_quiet_and_tells_once(rig: Rig) -> None:
    rig.summaries.changed("g", ["c"])
    for _ in range(3):
        await rig.clock.forward(SETTLE - 10)
        rig.summaries.changed("g", ["c"])
    assert rig.teller.asked == []
    await rig.clock.forward(10)
    assert rig.teller.asked == []
    await rig.clock.forward(SETTLE)
    await settled(rig)
    assert rig.teller.asked == [["Ana", "Bob", "Cyd"]]
    assert await rig.summary() == "Told by a model."
    assert (await rig.store.spent("g", rig.clock.now.date())).prompt_tokens == 100
    assert rig.gate.noted == COST
    assert rig.observer.spendings[-1][1].llm_calls == 1


async def test_a_group_that_never_rests_is_told_all_the_same(rig: Rig) -> None:
    rig.summaries.changed("g", ["c"])
    for _ in range(2 * LONGEST):
        await rig.clock.forward(SETTLE / 2)
        rig.summaries.changed("g", ["c"])
    await rig.clock.forward(0)
    for _ in range(200):
        if rig.teller.asked:
            break
        await asyncio.sleep(0.01)
    assert rig.teller.asked


@pytest.mark.parametrize(
    "error", [Retryable("down"), Poison("nonsense"), ValueError("a defect"), Parked("no", START)], ids=repr
)
async def test_whatever_fails_leaves_the_text_made_by_rule(rig: Rig, error: Exception) -> None:
    rig.teller.trouble = [error]
    rig.summaries.changed("g", ["c"])
    await rig.clock.forward(SETTLE)
    await settled(rig)
    assert await rig.summary() == "By rule."
    assert len(rig.teller.asked) == 1
    # The next change brings it back.
    rig.summaries.changed("g", ["c"])
    await rig.clock.forward(SETTLE)
    await settled(rig)
    assert await rig.summary() == "Told by a model."


async def test_nothing_that_stands_leaves_the_text_made_by_rule_and_is_paid(rig: Rig) -> None:
    rig.teller.says = None
    rig.summaries.changed("g", ["c"])
    await rig.clock.forward(SETTLE)
    await settled(rig)
    assert await rig.summary() == "By rule."
    assert (await rig.store.spent("g", rig.clock.now.date())).prompt_tokens == 100


async def test_a_budget_that_is_used_up_asks_nothing(rig: Rig) -> None:
    rig.gate.empty = True
    rig.summaries.changed("g", ["c"])
    await rig.clock.forward(SETTLE)
    await settled(rig)
    assert rig.teller.asked == []
    assert await rig.summary() == "By rule."


async def changed_meanwhile(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    """An episode is committed while the model is asked, so that the first summary is refused."""
    whole = rig.store.describe_communities
    fenced = [Fenced("an episode came")]

    async def once_fenced(texts: CommunityTexts) -> None:
        if fenced:
            raise fenced.pop()
        await whole(texts)

    monkeypatch.setattr(rig.store, "describe_communities", once_fenced)
    rig.summaries.changed("g", ["c"])
    await rig.clock.forward(SETTLE)
    await settled(rig)


async def test_what_was_committed_meanwhile_is_read_again(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    await changed_meanwhile(rig, monkeypatch)
    assert await rig.summary() == "Told by a model."


async def test_what_was_asked_in_vain_is_paid_too(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    await changed_meanwhile(rig, monkeypatch)
    assert len(rig.teller.asked) == 2
    assert (await rig.store.spent("g", rig.clock.now.date())).prompt_tokens == 200


async def test_what_was_told_before_the_budget_ran_out_is_written(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = rig.store.communities

    async def with_another(group_id: str, ids: Sequence[str], member_limit: int) -> CommunityView:
        view = await whole(group_id, ids, member_limit)
        another = view.communities["c"].model_copy(update={"id": "d"})
        return replace(
            view,
            communities={**view.communities, "d": another},
            members={**view.members, "d": view.members["c"]},
        )

    def used_up(group_id: str, usage: Usage) -> None:
        rig.gate.empty = True

    monkeypatch.setattr(rig.store, "communities", with_another)
    monkeypatch.setattr(rig.gate, "note", used_up)
    with pytest.raises(Parked):
        await rig.summaries.tell("g", ["c", "d"])
    assert len(rig.teller.asked) == 1
    assert await rig.summary() == "Told by a model."
    assert (await rig.store.spent("g", rig.clock.now.date())).prompt_tokens == 100


async def test_a_small_community_needs_no_model(tmp_path: Path, rig: Rig) -> None:
    store = SqliteGraphStore(tmp_path / "small.db", dimension=HashingEmbedder().dimension)
    reader = SqliteGraphReader(tmp_path / "small.db")
    await store.open()
    await reader.open()
    small = Rig(store, reader)
    await small.fill(facts=2)
    small.summaries.changed("g", ["c"])
    await small.clock.forward(SETTLE)
    await settled(small)
    assert small.teller.asked == []
    assert await small.summary() == "By rule."
    await reader.close()
    await store.close()


async def test_a_rebuild_has_its_communities_told(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    stands = await rig.store.group_graph("g")

    async def joined(group_id: str) -> GroupGraph:
        return replace(stands, edges=(("Ana", "Bob", 1), ("Bob", "Cyd", 1)))

    monkeypatch.setattr(rig.store, "group_graph", joined)
    stage = UpdateCommunitiesStage(
        rig.store, HashingEmbedder(), rig.clock, rig.observer, rig.summaries.at_once()
    )
    assert await stage.rebuild("g") == 1
    await settled(rig)
    (asked,) = rig.teller.asked
    assert sorted(asked) == ["Ana", "Bob", "Cyd"]
    ana = await rig.reader.entity("g", "Ana")
    assert ana is not None
    assert ana.community_id is not None
    rebuilt = await rig.reader.community("g", ana.community_id)
    assert rebuilt is not None
    assert rebuilt.summary == "Told by a model."


async def test_a_stop_forgets_what_waits(rig: Rig) -> None:
    rig.summaries.changed("g", ["c"])
    rig.summaries.changed("h", [])
    await rig.summaries.stop()
    await rig.clock.forward(SETTLE)
    assert rig.teller.asked == []


def test_nothing_is_started_for_nothing() -> None:
    unused: Any = None
    CommunitySummaries(unused, unused, unused, Clock(), RecordingObserver(), settle=1).changed("g", [])
