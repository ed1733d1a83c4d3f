"""BudgetGate: lets a group's episodes to the model for as long as its budget of the day lasts."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from typing import Protocol

from pipeline.clock import Clock
from pipeline.cost.budget import Budgets
from pipeline.errors import Parked
from pipeline.extraction.port import Extractor
from pipeline.model.episode import Episode, Usage
from pipeline.model.extraction import Extraction
from pipeline.observer import Observer

log = logging.getLogger(__name__)


class Spending(Protocol):
    """What a graph store knows of the cost of a day."""

    async def spent(self, group_id: str, day: date) -> Usage:
        """What the commits of a day (UTC) have cost a group."""


class BudgetGate:
    """Knows what a group has spent today: what the graph has counted, and what was read here and is not committed.

    The graph is asked once for each episode, and no more for the day once a budget is used up. Since a group's
    commits follow its extractions, and its extractions run side by side, the amount is the larger one of what the
    graph says now, and what it said first plus what this process has spent since.
    """

    def __init__(self, store: Spending, budgets: Budgets, clock: Clock, observer: Observer) -> None:
        self._store = store
        self._budgets = budgets
        self._clock = clock
        self._observer = observer
        self._day: date | None = None
        self._found: dict[str, Usage] = {}
        self._read: dict[str, Usage] = {}
        self._used_up: dict[str, str] = {}

    async def check(self, group_id: str) -> None:
        """Raises Parked, until the next midnight (UTC), when the group's budget is used up."""
        budget = self._budgets.of(group_id)
        if budget is None:
            return
        day = self._today()
        if group_id not in self._used_up:
            stored = await self._store.spent(group_id, day)
            if self._today() != day:
                return await self.check(group_id)
            here = self._found.setdefault(group_id, stored) + self._read.get(group_id, Usage())
            spent = max(budget.measure(stored), budget.measure(here))
            if spent < budget.amount:
                return
            self._used_up[group_id] = f"the budget of group {group_id!r} is used up ({spent} of {budget})"
            self._observer.event("budget_used_up")
            log.warning("%s until midnight UTC", self._used_up[group_id])
        self._observer.event("episode_parked")
        raise Parked(self._used_up[group_id], datetime.combine(day + timedelta(days=1), time(), UTC))

    def note(self, group_id: str, usage: Usage) -> None:
        """An extraction of the group was paid for."""
        self._today()
        if self._budgets.of(group_id) is not None:
            self._read[group_id] = self._read.get(group_id, Usage()) + usage

    def _today(self) -> date:
        day = self._clock().astimezone(UTC).date()
        if day != self._day:
            self._day = day
            for kept in (self._found, self._read, self._used_up):
                kept.clear()
        return day


class BudgetedExtractor:
    """Implements `Extractor` over another one, which it asks only while the group's budget lasts.

    Raises Parked when it does not, beside what the other one raises.
    """

    def __init__(self, reader: Extractor, gate: BudgetGate) -> None:
        self._reader = reader
        self._gate = gate

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """What the other extractor finds."""
        await self._gate.check(episode.group_id)
        extraction = await self._reader.extract(episode, context)
        self._gate.note(episode.group_id, extraction.usage)
        return extraction
