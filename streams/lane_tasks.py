"""The running tasks of a stage's lanes: which of them have their turn, and how they are ended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any

CANCELLED_WITHIN = 2.0
"""Seconds that a cancelled task may take to end before a drain goes on without it."""


class LaneTasks:
    """Starts tasks and knows them until they end; at most `concurrency` of them have their turn at once.

    `crash` is told of an error that gets out of one.
    """

    def __init__(self, concurrency: int, crash: Callable[[BaseException], Any]) -> None:
        self._crash = crash
        self._turns = asyncio.Semaphore(concurrency)
        self._in_turn: set[asyncio.Task[Any] | None] = set()
        self.running: set[asyncio.Task[None]] = set()

    def spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Starts a task."""
        task = asyncio.get_running_loop().create_task(coroutine)
        self.running.add(task)
        task.add_done_callback(self._ended)
        return task

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """A turn of the task that asks for it."""
        async with self._turns:
            task = asyncio.current_task()
            self._in_turn.add(task)
            try:
                yield
            finally:
                self._in_turn.discard(task)

    async def settle(self, grace: float) -> int:
        """Cancels what has no turn, and gives the others `grace` seconds; how many had not ended by then."""
        for task in self.running - self._in_turn:
            task.cancel()
        if (running := self.running & self._in_turn) and grace > 0:
            await asyncio.wait(running, timeout=grace)
        return len(self.running & self._in_turn)

    async def cancel(self) -> None:
        """Cancels what is left, and waits a moment for it."""
        for task in self.running:
            task.cancel()
        if self.running:
            await asyncio.wait(set(self.running), timeout=CANCELLED_WITHIN)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self.running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            self._crash(error)
