"""A search whose plan takes longer than its request may: the planning goes on, so that the next request finds it.

The database makes a plan for each shape of search and keeps it, but a request that reaches its deadline meanwhile takes
the unfinished plan away with it. Every repeat would then begin from nothing and fail in the same way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from pipeline.errors import Retryable
from pipeline.graph.neo4j.queries_conditions import SearchShape

T = TypeVar("T")
_log = logging.getLogger(__name__)


class PlannedShapes:
    """Which shapes have been answered, and the planning of those that were cut off, one after the other."""

    def __init__(self) -> None:
        self._answered: set[SearchShape] = set()
        self._planning: dict[SearchShape, asyncio.Task[None]] = {}
        self._one = asyncio.Lock()

    async def run(
        self, shape: SearchShape, ask: Callable[[], Awaitable[T]], plan: Callable[[], Awaitable[object]]
    ) -> T:
        """The answer to `ask`. Where it is cut off and the shape was never answered, `plan`, a search of the same shape
        that finds nothing and has time, goes on in the background; who asks meanwhile waits for that first."""
        if shape in self._answered:
            return await ask()
        if shape in self._planning:
            await asyncio.shield(self._planning[shape])
        try:
            answer = await ask()
        except (Retryable, asyncio.CancelledError):
            if shape not in self._planning:
                self._planning[shape] = asyncio.create_task(self._plan(shape, plan))
            raise
        self._answered.add(shape)
        return answer

    async def close(self) -> None:
        """End what goes on in the background."""
        tasks = list(self._planning.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _plan(self, shape: SearchShape, plan: Callable[[], Awaitable[object]]) -> None:
        try:
            async with self._one:
                await plan()
            self._answered.add(shape)
        except Exception as error:
            # The next request that is cut off begins it again.
            _log.warning("a search could not be planned ahead: %s", error)
        finally:
            self._planning.pop(shape, None)
