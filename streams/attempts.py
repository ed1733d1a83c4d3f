"""Runs one phase of one event until it succeeds or is given up."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TypeVar

from pipeline.errors import NewerFormat, Parked
from streams.calls import Call, Calls
from streams.errors import TooSlow
from streams.event import Event
from streams.failure import Failure
from streams.lane_observer import LaneObserver
from streams.lane_policy import LanePolicy
from streams.timing import Timing
from streams.verdict import Verdict, judge

T = TypeVar("T")
Slot = Callable[[], AbstractAsyncContextManager[None]]
"""Gives a place to run in; asked for again for each attempt, so that a pause holds no place."""

SHORTEST_PARKING = 1.0
"""Seconds; a moment that has passed by the time that it is told must not make a loop that never waits."""

log = logging.getLogger(__name__)


class Attempts:
    """The retry loop of a stage. What to do about an error is decided by `verdict.judge`, how long by the policy."""

    def __init__(self, stage: str, policy: LanePolicy, observer: LaneObserver, timing: Timing) -> None:
        self._stage = stage
        self._policy = policy
        self._observer = observer
        self._timing = timing
        self.calls = Calls(timing)
        self.stopping = False
        """While True, a failed attempt is the last: the task ends as cancelled and the event is left as it was."""

    async def run(
        self,
        phase: str,
        event: Event,
        call: Callable[[], Awaitable[T]],
        slot: Slot,
        *,
        for_ever: bool = False,
        aside: Callable[[], None] | None = None,
    ) -> T | Failure:
        """The call's result, or why it was given up. `for_ever` gives up nothing, whatever the error.

        `aside` is called each time that the call is parked, before the wait.
        """
        with self.calls.of(phase, event) as known:
            return await self._run(known, call, slot, for_ever, aside)

    async def _run(
        self,
        known: Call,
        call: Callable[[], Awaitable[T]],
        slot: Slot,
        for_ever: bool,
        aside: Callable[[], None] | None,
    ) -> T | Failure:
        phase, event = known.phase, known.event
        failures = fenced = 0
        while True:
            try:
                async with slot():
                    started = known.started = self._timing.monotonic()
                    result = await self._within_limit(call)
                self._observer.phase_finished(self._stage, phase, self._timing.monotonic() - started)
                return result
            except (Exception, asyncio.CancelledError) as raised:
                if self._must_end():
                    raise asyncio.CancelledError from raised
                if isinstance(raised, NewerFormat):
                    # No failure of the event: this program may not handle it, and must end.
                    raise
                known.started = None
                error = raised if isinstance(raised, Exception) else RuntimeError("cancelled from inside")
                verdict = judge(error)
                self._observer.attempt_failed(self._stage, phase, verdict)
                if isinstance(error, Parked):
                    pause = max(SHORTEST_PARKING, (error.until - self._timing.clock()).total_seconds())
                    log.info("%s %s of %s waits %.0f s: %s", self._stage, phase, event.place, pause, error)
                    if aside is not None:
                        aside()
                else:
                    failures += 1
                    known.failed(error)
                    if not for_ever and self._hopeless(verdict, failures):
                        log.error(
                            "%s %s of %s given up after %d: %r",
                            self._stage,
                            phase,
                            event.place,
                            failures,
                            error,
                        )
                        return Failure(self._stage, phase, failures, error)
                    if verdict is Verdict.FENCED:
                        fenced += 1
                        if fenced <= self._policy.fenced_reruns:
                            log.info("%s %s of %s was fenced: again at once", self._stage, phase, event.place)
                            continue
                    pause = self._policy.pause(failures, self._timing.chance())
                    log.warning(
                        "%s %s of %s failed (%d), again in %.1f s: %r",
                        *(self._stage, phase, event.place, failures, pause, error),
                    )
            await self._timing.sleep(pause)

    async def _within_limit(self, call: Callable[[], Awaitable[T]]) -> T:
        limit = self._policy.longest_attempt
        scope = self._timing.within(limit)
        try:
            async with scope as running:
                return await call()
        except TimeoutError as error:
            if running.expired():
                raise TooSlow(limit) from error
            raise

    def _must_end(self) -> bool:
        task = asyncio.current_task()
        return self.stopping or (task is not None and task.cancelling() > 0)

    def _hopeless(self, verdict: Verdict, failures: int) -> bool:
        if verdict is Verdict.POISON:
            return True
        return verdict is Verdict.UNKNOWN and failures >= self._policy.attempts
