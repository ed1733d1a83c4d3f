"""Stops a stage whose input, or whose surroundings, have gone bad as a whole, before all of it is dead-lettered."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, deque

from streams.failure import Failure
from streams.halt_policy import HaltPolicy
from streams.timing import Timing

log = logging.getLogger(__name__)

REASONS = 3
"""Last reasons of deaths that are told."""
REASON_CHARACTERS = 200
SPREAD = 0.25
"""Share of the deaths that must not be of the group that dies most: one tenant's bad input is no reason to stop."""


class Halt:
    """Looks at the last outcomes of a stage before each death, and decides whether it may happen.

    A stage that has stopped itself takes no turns, and the event that was about to die stays as it is. After a pause
    one event has its turn as a probe, of another group each time: what succeeds opens the stage and forgets the past;
    what fails leaves it stopped for another pause. With one group only, its own deaths are enough.
    """

    def __init__(self, stage: str, policy: HaltPolicy, timing: Timing) -> None:
        self._stage = stage
        self._policy = policy
        self._timing = timing
        self._outcomes: deque[tuple[bytes, bool]] = deque(maxlen=max(policy.window, policy.consecutive, 1))
        self._reasons: deque[str] = deque(maxlen=REASONS)
        self._seen: set[bytes] = set()
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._probing = False
        self._timer: asyncio.Task[None] | None = None
        self.reason = ""

    @property
    def halted(self) -> bool:
        """Whether the stage takes no turns."""
        return bool(self.reason)

    async def enter(self) -> None:
        """Before a turn: returns at once, or, while the stage has stopped, when this one may try."""
        while self.halted:
            if self._timer is None:
                self._timer = asyncio.get_running_loop().create_task(self._probe())
            place: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(place)
            try:
                await place
                return
            except asyncio.CancelledError:
                if place.done() and not place.cancelled():
                    self._probing = False
                raise
            finally:
                if place in self._waiting:
                    self._waiting.remove(place)

    def done(self, group: bytes) -> None:
        """An event was handled."""
        self._note(group, dead=False)
        if self._probing:
            log.warning("%s goes on: an event was handled again", self._stage)
            self._open()

    def died(self, group: bytes) -> None:
        """An event was dead-lettered."""
        self._note(group, dead=True)

    def stops(self, group: bytes, failure: Failure) -> bool:
        """Before a death: whether the stage stops, or has stopped, instead."""
        self._see(group)
        self._reasons.append(failure.reason[:REASON_CHARACTERS])
        if self.halted:
            self._probing = False
            return True
        why = self._why(group)
        if not why:
            return False
        last = "; ".join(dict.fromkeys(self._reasons))
        self.reason = f"stopped before more events die: {why}; last reasons: {last}"
        log.error("%s %s", self._stage, self.reason)
        return True

    def give_way(self) -> None:
        """The probe waits for something that has nothing to do with the stage: another one may try."""
        self._probing = False

    def close(self) -> None:
        """Ends what it has under way; the stage stays as it is."""
        self._probing = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _why(self, group: bytes) -> str:
        policy, outcomes = self._policy, [*self._outcomes, (group, True)]
        last = outcomes[-policy.consecutive :] if policy.consecutive else []
        if last and len(last) == policy.consecutive and all(dead for _, dead in last) and self._spread(last):
            return f"{len(last)} in a row"
        last = outcomes[-policy.window :]
        dead = sum(dead for _, dead in last)
        full = len(last) == policy.window and policy.ratio > 0
        if full and dead >= policy.ratio * policy.window and self._spread(last):
            return f"{dead} of the last {len(last)}"
        return ""

    def _spread(self, outcomes: list[tuple[bytes, bool]]) -> bool:
        by_group = Counter(group for group, dead in outcomes if dead)
        if len(self._seen) == 1:
            return True
        return by_group.total() - max(by_group.values()) >= SPREAD * by_group.total()

    def _note(self, group: bytes, *, dead: bool) -> None:
        self._see(group)
        self._outcomes.append((group, dead))

    def _see(self, group: bytes) -> None:
        # Whether there is more than one is all that counts.
        if len(self._seen) < 2:
            self._seen.add(group)

    def _open(self) -> None:
        self.reason, self._probing = "", False
        self._outcomes.clear()
        self._reasons.clear()
        while self._waiting:
            place = self._waiting.popleft()
            if not place.done():
                place.set_result(None)

    async def _probe(self) -> None:
        while self.halted:
            await self._timing.sleep(self._policy.pause)
            while self.halted and self._waiting and not self._probing:
                place = self._waiting.popleft()
                if not place.done():
                    self._probing = True
                    place.set_result(None)
        self._timer = None
