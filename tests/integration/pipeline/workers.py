"""Worker processes that start at once: forked from a process that has imported everything already."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import psutil

from tests.integration.pipeline.waiting import WITHIN, until
from tests.integration.pipeline.worker_process import run

ROOT = Path(__file__).parents[3]


class WorkerProcess:
    """One worker, a process of its own."""

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self.asked_to_stop = False

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the signal when one ended it."""
        return self._process.exitcode

    async def ended(self) -> int:
        """Waits for its end; the exit code."""

        async def has_ended() -> bool:
            return self._process.exitcode is not None

        await until(has_ended)
        return int(self._process.exitcode or 0)

    @property
    def pid(self) -> int:
        """Its process id."""
        return int(self._process.pid or 0)

    @property
    def frozen(self) -> bool:
        """Whether SIGSTOP holds it."""
        return psutil.Process(self.pid).status() == psutil.STATUS_STOPPED

    def send(self, number: signal.Signals) -> None:
        """Sends it a signal."""
        os.kill(self.pid, number)

    async def killed(self) -> int:
        """Ends it with SIGKILL and waits; the exit code."""
        self.asked_to_stop = True
        self._process.kill()
        return await self.ended()

    async def stopped(self) -> int:
        """Asks it to stop (SIGTERM) and waits; the exit code."""
        self.asked_to_stop = True
        self._process.terminate()
        return await self.ended()


@asynccontextmanager
async def worker_process(
    told: dict[str, Any], target: Callable[[dict[str, Any]], None] = run
) -> AsyncIterator[WorkerProcess]:
    """A worker that was told this (see `worker_process.run`); killed at the end unless it has ended."""
    process = _context().Process(target=target, args=(told,), daemon=True)
    await asyncio.to_thread(process.start)
    try:
        yield WorkerProcess(process)
    finally:
        if process.exitcode is None:
            process.kill()
        await asyncio.to_thread(process.join, WITHIN)
        process.close()


@cache
def _context() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(
        ["pytest", "tests.integration.pipeline.worker_process", "factstream.compose"]
    )
    # The server imports before it is told of our path.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = str(ROOT)
    try:
        forkserver.ensure_running()
    finally:
        if before is None:
            del os.environ["PYTHONPATH"]
        else:
            os.environ["PYTHONPATH"] = before
    return context
