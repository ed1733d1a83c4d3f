"""What a stage has under way: which phase of which event, since when, and how often it has failed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from streams.event import Event
from streams.failure import reason_of
from streams.health.stage_state import RunningCall
from streams.timing import Timing

ERROR_CHARACTERS = 300


@dataclass(slots=True, eq=False)
class Call:
    """A phase of an event. `started` is that of the attempt under way, None while it waits for a place or in a pause."""

    phase: str
    event: Event
    started: float | None = None
    failures: int = 0
    error: str = ""

    def failed(self, error: Exception) -> None:
        """Notes a failed attempt."""
        self.failures += 1
        self.error = reason_of(error)[:ERROR_CHARACTERS]


class Calls:
    """The calls of one stage; as many as it has events in hand."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing
        self._calls: set[Call] = set()

    @contextmanager
    def of(self, phase: str, event: Event) -> Iterator[Call]:
        """One call, known for as long as the block lasts."""
        call = Call(phase, event)
        self._calls.add(call)
        try:
            yield call
        finally:
            self._calls.discard(call)

    @property
    def slowest(self) -> RunningCall | None:
        """The one whose attempt runs longest."""
        running = [call for call in self._calls if call.started is not None]
        return self._told(min(running, key=lambda call: call.started or 0.0)) if running else None

    @property
    def failing(self) -> RunningCall | None:
        """The one that has failed most often."""
        failing = [call for call in self._calls if call.failures]
        return self._told(max(failing, key=lambda call: call.failures)) if failing else None

    def _told(self, call: Call) -> RunningCall:
        seconds = None if call.started is None else self._timing.monotonic() - call.started
        return RunningCall(call.event.place, call.phase, seconds, call.failures, call.error)
