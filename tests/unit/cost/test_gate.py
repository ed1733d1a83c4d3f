"""Budgets: what is let through, what is parked, and until when."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest

from pipeline.cost.budget import Budget, Budgets
from pipeline.cost.day_total import DayTotal
from pipeline.cost.gate import BudgetedExtractor, BudgetGate
from pipeline.errors import Parked, SettingError
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import Extraction
from tests.episodes import message
from tests.llm_support import RecordingObserver

NOON = datetime(2024, 3, 14, 12, tzinfo=UTC)
MIDNIGHT = datetime(2024, 3, 15, tzinfo=UTC)


class Ledger:
    """A store of which only the day's total is known."""

    def __init__(self) -> None:
        self.totals: dict[str, DayTotal] = {}
        self.asked = 0

    def commit(self, usage: Usage, at: datetime, group: str = "g") -> None:
        self.totals[group] = self.totals.get(group, DayTotal()).plus(usage, at)

    async def spent(self, group_id: str, day: date) -> Usage:
        self.asked += 1
        return self.totals.get(group_id, DayTotal()).on(day)


class Reader:
    """An extractor whose every reading costs 100 tokens."""

    def __init__(self) -> None:
        self.read: list[str] = []

    async def extract(self, episode: Episode, context: object) -> Extraction:
        self.read.append(episode.id)
        return Extraction(usage=Usage(llm_calls=1, prompt_tokens=90, completion_tokens=10))


class Rig:
    """A budgeted reader with a clock that tests move."""

    def __init__(self, default: str | None, groups: dict[str, str | None] | None = None) -> None:
        self.now = NOON
        self.ledger, self.reader, self.observer = Ledger(), Reader(), RecordingObserver()
        self.gate = self.new_gate(default, groups)
        self.extractor = RoutingExtractor(BudgetedExtractor(self.reader, self.gate), TriplesExtractor())

    def new_gate(self, default: str | None, groups: dict[str, str | None] | None = None) -> BudgetGate:
        return BudgetGate(self.ledger, Budgets.read(default, groups or {}), lambda: self.now, self.observer)

    async def say(self, name: str, group: str = "g") -> None:
        await self.extractor.extract(message("Hello", id=name, group_id=group), ())


async def test_an_episode_over_budget_is_parked_until_midnight() -> None:
    rig = Rig("200 tokens")
    rig.ledger.commit(Usage(prompt_tokens=150, embedding_tokens=50), NOON)
    with pytest.raises(Parked, match=r"budget of group 'g' is used up \(200 of 200 tokens\)") as raised:
        await rig.say("e1")
    assert raised.value.until == MIDNIGHT
    assert rig.reader.read == []
    assert rig.observer.events == {"budget_used_up": 1, "episode_parked": 1}


async def test_it_goes_on_at_midnight() -> None:
    rig = Rig("200 tokens")
    rig.ledger.commit(Usage(prompt_tokens=500), NOON)
    with pytest.raises(Parked):
        await rig.say("e1")
    rig.now = MIDNIGHT
    await rig.say("e1")
    assert rig.reader.read == ["e1"]


async def test_what_was_read_here_counts_before_it_is_committed() -> None:
    rig = Rig("200 tokens")
    await rig.say("e1")
    await rig.say("e2")
    with pytest.raises(Parked):
        await rig.say("e3")
    assert rig.reader.read == ["e1", "e2"]


async def test_what_was_read_here_is_not_counted_twice_once_it_is_committed() -> None:
    rig = Rig("300 tokens")
    await rig.say("e1")
    rig.ledger.commit(Usage(prompt_tokens=100), NOON)
    await rig.say("e2")
    rig.ledger.commit(Usage(prompt_tokens=100), NOON)
    await rig.say("e3")
    with pytest.raises(Parked):
        await rig.say("e4")


async def test_a_restart_forgets_nothing() -> None:
    rig = Rig("200 tokens")
    await rig.say("e1")
    await rig.say("e2")
    rig.ledger.commit(Usage(prompt_tokens=200), NOON)
    with pytest.raises(Parked):
        await rig.new_gate("200 tokens").check("g")


async def test_the_budget_of_one_group_stops_no_other() -> None:
    rig = Rig("100 tokens", {"rich": "1000 tokens", "free": None})
    for group in ("g", "rich", "free"):
        rig.ledger.commit(Usage(prompt_tokens=100), NOON, group)
    with pytest.raises(Parked):
        await rig.say("e1", "g")
    await rig.say("e2", "rich")
    await rig.say("e3", "free")
    await rig.say("e4", "new")
    assert rig.reader.read == ["e2", "e3", "e4"]


async def test_triples_are_never_parked() -> None:
    rig = Rig("0 tokens")
    triple = {"subject": {"name": "Ana"}, "relation": "KNOWS", "object": {"name": "Ben"}}
    episode = message("", speaker=None).model_copy(update={"source": Source.triples, "content": [triple]})
    assert len((await rig.extractor.extract(episode, ())).statements) == 1
    with pytest.raises(Parked):
        await rig.say("e1")


async def test_a_group_that_is_used_up_costs_no_more_questions_to_the_graph() -> None:
    rig = Rig("0 tokens")
    for name in ("e1", "e2", "e3"):
        with pytest.raises(Parked):
            await rig.say(name)
    assert rig.ledger.asked == 1
    assert rig.observer.events["budget_used_up"] == 1


async def test_a_budget_of_cost() -> None:
    rig = Rig("0.50 cost")
    rig.ledger.commit(Usage(cost=Decimal("0.49")), NOON)
    await rig.say("e1")
    rig.ledger.commit(Usage(cost=Decimal("0.01")), NOON)
    with pytest.raises(Parked, match=r"0.50 of 0.50 cost"):
        await rig.say("e2")


@pytest.mark.parametrize("text", ["", "many", "5", "-1 tokens", "1.5 tokens", "5 dollars"])
def test_what_is_no_budget_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="is no budget"):
        Budget.read(text)


def test_budgets_are_read() -> None:
    assert Budget.read("1_000_000 tokens") == Budget(Decimal(1_000_000), "tokens")
    assert not Budgets.read(None, {"g": None})
    assert Budgets.read(None, {"g": "1 cost"}).counts_cost


def test_a_day_begins_at_midnight_utc_and_never_goes_back() -> None:
    total = DayTotal().plus(Usage(llm_calls=1), NOON).plus(Usage(llm_calls=2), NOON + timedelta(hours=11))
    assert total.on(NOON.date()).llm_calls == 3
    tomorrow = total.plus(Usage(llm_calls=5), MIDNIGHT)
    assert tomorrow.on(MIDNIGHT.date()).llm_calls == 5
    assert tomorrow.on(NOON.date()) == Usage()
    assert tomorrow.plus(Usage(llm_calls=1), NOON) == tomorrow
    assert DayTotal.read(tomorrow.model_dump_json()) == tomorrow
