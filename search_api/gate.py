"""The gate: so many requests are worked on at a time, a bounded number more wait, the rest are sent away."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from search_api.metrics import SearchMetrics
from search_api.problems import ProblemError, unavailable
from search_api.settings import ApiSettings


class Gate:
    """Lets a bounded number of requests in; a bounded number more wait for a bounded time."""

    def __init__(self, settings: ApiSettings, metrics: SearchMetrics) -> None:
        self._places = asyncio.Semaphore(settings.max_concurrent)
        self._settings = settings
        self._metrics = metrics
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while the body runs. Raises a 503 problem when there is none to be had."""
        await self._enter()
        self._metrics.in_flight.inc()
        try:
            yield
        finally:
            self._metrics.in_flight.dec()
            self._places.release()

    async def _enter(self) -> None:
        if self._places.locked() and self._waiting >= self._settings.max_waiting:
            raise self._busy("queue_full", "too many requests are waiting")
        self._waiting += 1
        self._metrics.waiting.set(self._waiting)
        try:
            async with asyncio.timeout(self._settings.max_wait_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise self._busy("waited_too_long", "no place came free in time") from None
        finally:
            self._waiting -= 1
            self._metrics.waiting.set(self._waiting)

    def _busy(self, reason: str, detail: str) -> ProblemError:
        self._metrics.rejected.labels(reason).inc()
        return unavailable(f"the service is busy: {detail}", self._settings.retry_after_seconds)
