"""What a stage says of itself at a moment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class RunningCall:
    """An event in one of its phases: seconds of the attempt under way (None in a pause), failures and the last error."""

    place: str
    phase: str
    seconds: float | None
    failures: int = 0
    error: str = ""


@dataclass(frozen=True, slots=True)
class StageState:
    """Frozen picture of a stage's lanes.

    waiting: events taken in, unfinished and not parked. parked: those that wait for a moment (a budget).
    oldest_age: seconds since the Kafka timestamp of the oldest that is not parked. quiet: seconds in which something
    waited and nothing was finished. slowest: the longest attempt under way. failing: the event with most failures.
    halted: why the stage has stopped itself, or empty.
    """

    stage: str
    waiting: int = 0
    parked: int = 0
    oldest_age: float = 0.0
    quiet: float = 0.0
    slowest: RunningCall | None = None
    failing: RunningCall | None = None
    halted: str = ""

    def told(self) -> dict[str, Any]:
        """As JSON."""
        told: dict[str, Any] = {
            "waiting": self.waiting,
            "parked": self.parked,
            "oldest_seconds": round(self.oldest_age, 1),
            "quiet_seconds": round(self.quiet, 1),
        }
        if self.failing is not None:
            told["failing"] = {
                "place": self.failing.place,
                "phase": self.failing.phase,
                "failures": self.failing.failures,
                "error": self.failing.error,
            }
        if self.halted:
            told["halted"] = self.halted
        return told
