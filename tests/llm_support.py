"""What the tests of the model side share: a clock that jumps, and an observer that remembers."""

from __future__ import annotations

import asyncio
from collections import Counter
from datetime import UTC, datetime, timedelta

from pipeline.llm.timing import Timing
from pipeline.model.episode import Usage

START = datetime(2026, 1, 1, tzinfo=UTC)


class FakeTime:
    """Sleeping moves the clock at once; `slept` remembers how long each sleep was."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.timing = Timing(
            sleep=self._sleep,
            monotonic=lambda: self.now,
            chance=lambda: 1.0,
            clock=lambda: START + timedelta(seconds=self.now),
        )

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += max(0.0, seconds)
        await asyncio.sleep(0)


class RecordingObserver:
    """Implements `Observer`; `outcomes` counts (purpose, outcome), `events` the named occurrences."""

    def __init__(self) -> None:
        self.outcomes: Counter[tuple[str, str]] = Counter()
        self.events: Counter[str] = Counter()
        self.tokens = 0
        self.spendings: list[tuple[str, Usage]] = []
        self.texts: list[tuple[int, int]] = []

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        """No graph is asked here."""

    def model_call(
        self, purpose: str, outcome: str, prompt_tokens: int, completion_tokens: int, seconds: float
    ) -> None:
        self.outcomes[purpose, outcome] += 1
        self.tokens += prompt_tokens + completion_tokens

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        self.texts.append((texts, cached))

    def spent(self, group_id: str, usage: Usage) -> None:
        self.spendings.append((group_id, usage))

    def event(self, name: str, amount: int = 1) -> None:
        self.events[name] += amount
