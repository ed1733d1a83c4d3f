"""Measures a stage's lanes as they are now: what waits, how old it is, since when nothing was finished."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from streams.calls import Calls
from streams.event import Partition
from streams.health.stage_state import StageState
from streams.intake import Intake
from streams.timing import Timing


class StageWatch:
    """Watches the intakes of one stage. What waits for a budget counts neither as waiting nor by its age."""

    def __init__(self, stage: str, intakes: Mapping[Partition, Intake], calls: Calls, timing: Timing) -> None:
        self._stage = stage
        self._intakes = intakes
        self._calls = calls
        self._timing = timing
        self._moved = timing.monotonic()

    def moved(self) -> None:
        """Something was finished, or work begins after a time without any."""
        self._moved = self._timing.monotonic()

    @property
    def waiting(self) -> int:
        """Events that are unfinished and not parked."""
        return sum(intake.waiting for intake in self._intakes.values())

    @property
    def parked(self) -> int:
        """Events that wait for a moment before which they may not go on."""
        return sum(len(intake.parked) for intake in self._intakes.values())

    @property
    def oldest(self) -> datetime | None:
        """The timestamp of the oldest event that waits, over all partitions."""
        heads = (intake.oldest for intake in self._intakes.values())
        return min((event.timestamp for event in heads if event is not None), default=None)

    @property
    def oldest_age(self) -> float:
        """Its age in seconds; 0 when nothing waits."""
        oldest = self.oldest
        return 0.0 if oldest is None else max(0.0, (self._timing.clock() - oldest).total_seconds())

    def state(self, halted: str = "") -> StageState:
        """The picture of this moment."""
        waiting = self.waiting
        return StageState(
            stage=self._stage,
            waiting=waiting,
            parked=self.parked,
            oldest_age=self.oldest_age,
            quiet=self._timing.monotonic() - self._moved if waiting else 0.0,
            slowest=self._calls.slowest,
            failing=self._calls.failing,
            halted=halted,
        )
