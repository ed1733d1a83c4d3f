"""Turns: a request is worked on in its turn, which has a place among the concurrent ones and a deadline."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from http import HTTPStatus

from search_api.gate import Gate
from search_api.metrics import SearchMetrics
from search_api.problems import ProblemError

TURN = "factstream.turn"
"""Where the turn of a request stands in its ASGI scope."""


class Turn:
    """One request's turn, while it lasts."""

    def __init__(self, gate: Gate, seconds: float, deadline: asyncio.Timeout) -> None:
        self._gate = gate
        self._seconds = seconds
        self._deadline = deadline
        self._place = AsyncExitStack()

    async def take(self) -> None:
        """Wait for a place; the time for the work begins now. Raises a 503 problem when there is no place."""
        await self._place.enter_async_context(self._gate.place())
        self._deadline.reschedule(asyncio.get_running_loop().time() + self._seconds)

    async def give_back(self) -> None:
        """Give the place back; again: nothing."""
        await self._place.aclose()

    async def stop_clock(self) -> None:
        """From here on no time is counted. Raises CancelledError when the deadline has just passed."""
        if self._deadline.expired():
            # The cancellation is on its way: let it arrive before anything is sent.
            await asyncio.sleep(0)
        self._deadline.reschedule(None)

    @asynccontextmanager
    async def paused(self) -> AsyncIterator[None]:
        """Inside, others have the place and no time is counted; afterwards a place is waited for like any other."""
        await self.stop_clock()
        await self.give_back()
        yield
        await self.take()


class Turns:
    """Gives turns. What takes longer than `seconds` in its turn is cancelled, with what it asked of the store."""

    def __init__(self, gate: Gate, seconds: float, metrics: SearchMetrics) -> None:
        self._gate = gate
        self._seconds = seconds
        self._metrics = metrics

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Turn]:
        """Run the body in its turn. Raises a 503 problem when there is no place, a 504 problem at the deadline."""
        try:
            async with asyncio.timeout(None) as deadline:
                turn = Turn(self._gate, self._seconds, deadline)
                await turn.take()
                try:
                    yield turn
                finally:
                    await turn.give_back()
        except TimeoutError:
            if not deadline.expired():
                raise
            self._metrics.rejected.labels("deadline").inc()
            raise ProblemError(
                HTTPStatus.GATEWAY_TIMEOUT,
                f"no answer within {self._seconds:g} s: ask for less, or again when the service is less busy",
            ) from None
