"""What may be sent to an endpoint at a time: its rates, its own wish to wait, and how many requests side by side.

One `EndpointLimits` stands for one endpoint and is shared by everything that talks to it. Rates are token buckets.
Concurrency follows additive increase and multiplicative decrease (Chiu and Jain 1989): one more for each full window
of successes, half of it when the endpoint answers 429.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pipeline.llm.timing import Timing


@dataclass(frozen=True)
class Rates:
    """What an endpoint allows a minute (None: unlimited), and the bounds of concurrency."""

    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None
    start_concurrency: int = 4
    max_concurrency: int = 32


class EndpointLimits:
    """Lets requests through in order of arrival, as many and as fast as the endpoint takes them."""

    def __init__(self, rates: Rates, timing: Timing) -> None:
        self._timing = timing
        self._requests = _Bucket(rates.requests_per_minute, timing)
        self._tokens = _Bucket(rates.tokens_per_minute, timing)
        self._max = float(max(1, rates.max_concurrency))
        self._width = float(min(self._max, max(1, rates.start_concurrency)))
        self._running = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._paused_until = float("-inf")
        self._epoch = 0

    @property
    def concurrency(self) -> int:
        """How many requests may run side by side at present."""
        return int(self._width)

    @property
    def epoch(self) -> int:
        """Counts the halvings. A request remembers it, so that one burst of 429 halves once."""
        return self._epoch

    @asynccontextmanager
    async def slot(self, tokens: int) -> AsyncIterator[int]:
        """Room for one request of about so many tokens; gives the present epoch."""
        await self._enter()
        try:
            await self._requests.take(1)
            await self._tokens.take(tokens)
            while (wait := self._paused_until - self._timing.monotonic()) > 0:
                await self._timing.sleep(wait)
            yield self._epoch
        finally:
            self._running -= 1
            self._wake()

    def succeeded(self, estimated: int, used: int) -> None:
        """After an answer: one step wider, and the bucket pays what was really used."""
        self._width = min(self._max, self._width + 1 / self._width)
        self._tokens.charge(used - estimated)
        self._wake()

    def refused(self, wait: float, epoch: int) -> None:
        """After a 429: nobody sends for `wait` seconds, and half as many do afterwards."""
        self._paused_until = max(self._paused_until, self._timing.monotonic() + wait)
        if epoch == self._epoch:
            self._epoch += 1
            self._width = max(1.0, self._width / 2)

    async def _enter(self) -> None:
        if self._running < self.concurrency and not self._waiting:
            self._running += 1
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._running -= 1
                self._wake()
            else:
                self._waiting.remove(turn)
            raise

    def _wake(self) -> None:
        while self._waiting and self._running < self.concurrency:
            turn = self._waiting.popleft()
            if not turn.done():
                self._running += 1
                turn.set_result(None)


class _Bucket:
    """A token bucket that holds a minute's worth and may go into debt: whoever comes next waits for it."""

    def __init__(self, per_minute: float | None, timing: Timing) -> None:
        self._rate = None if per_minute is None else per_minute / 60
        self._size = per_minute or 0.0
        self._level = self._size
        self._timing = timing
        self._at = timing.monotonic()
        self._turn = asyncio.Lock()

    async def take(self, amount: float) -> None:
        if self._rate is None:
            return
        async with self._turn:
            # A request larger than the bucket takes all of it and leaves the rest as debt.
            needed = min(amount, self._size)
            while (missing := needed - self._filled(self._rate)) > 1e-9:
                await self._timing.sleep(missing / self._rate)
            self._level -= amount

    def charge(self, amount: float) -> None:
        self._level = min(self._size, self._level - amount)

    def _filled(self, rate: float) -> float:
        now = self._timing.monotonic()
        self._level = min(self._size, self._level + (now - self._at) * rate)
        self._at = now
        return self._level
