"""LineRunner: brings accepted events through the stages without Kafka.

Inside a group strictly in order, one at a time; groups side by side; extraction runs ahead. The inbox is the queue:
the runner takes from it a batch at a time, so memory stays bounded however long the inbox is.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Collection, Coroutine, Sequence
from datetime import datetime
from typing import Any

from factstream.memory.inbox import Acceptable, Entry, Inbox
from factstream.memory.lane import Ticket
from factstream.memory.lane_work import LaneWork
from factstream.memory.line import Line
from factstream.memory.policy import RunnerPolicy
from factstream.memory.results import Added
from factstream.memory.retrying import persist
from factstream.memory.warming import texts_before
from pipeline.embedding.port import Embedder
from pipeline.errors import FactstreamError, Retryable, SettingError
from pipeline.model.episode import Episode, EpisodeState
from pipeline.model.event import InvalidEvent, parse_event, to_episode

log = logging.getLogger(__name__)


class LineRunner:
    """Runs a `Line` over an `Inbox` inside one event loop. A batch's texts are embedded in one call (`embedder` must
    keep vectors, as `CachingEmbedder` does).

    A defect in here, or a wrong setting, crashes the runner: `crashed` has the error, whoever waits gets it, and what
    was accepted stays in the inbox for the next start.
    """

    def __init__(
        self,
        line: Line,
        inbox: Inbox,
        embedder: Embedder,
        policy: RunnerPolicy | None = None,
        ontologies: Collection[str] = (),
    ) -> None:
        self._line = line
        self._inbox = inbox
        self._embedder = embedder
        self._policy = policy or RunnerPolicy()
        self._ontologies = ontologies
        self._cursor = -1
        self._pending: dict[int, Ticket] = {}
        self._watchers: dict[int, asyncio.Future[Added]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._intake = asyncio.Lock()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._quiet = asyncio.Event()
        self._closed = False
        self._lanes = LaneWork(
            line,
            self._policy,
            warm=self._warm,
            finish=self._finish,
            spawn=self._spawn,
            pending=lambda: list(self._pending.values()),
        )
        self.crashed: asyncio.Future[BaseException] = asyncio.get_running_loop().create_future()

    def start(self) -> None:
        """Begin with what the inbox holds."""
        self._spawn(self._feed())

    async def submit(
        self, records: Sequence[Acceptable], at: datetime, *, watch: bool
    ) -> list[asyncio.Future[Added]]:
        """Accept events: durable when this returns. With `watch`, a future for each, set when it is finished.

        Raises Retryable when the file cannot be written, and what crashed the runner when it has crashed.
        """
        self._check()
        try:
            # The feeder reads under the same lock, so that no event is finished before it is watched, and an inbox
            # that was read as empty is not called quiet after this.
            async with self._intake:
                self._quiet.clear()
                numbers = await self._inbox.append(records, at)
                if not watch:
                    return []
                loop = asyncio.get_running_loop()
                futures = [loop.create_future() for _ in numbers]
                for future in futures:
                    # Who waits for several of them hears of the first that fails; the others are not forgotten ones.
                    future.add_done_callback(_heard)
                self._watchers.update(zip(numbers, futures, strict=True))
                return futures
        finally:
            self._wake.set()

    async def drain(self) -> None:
        """Wait until every accepted event is finished. Raises what crashed the runner when it crashes."""
        self._check()
        quiet = asyncio.create_task(self._quiet.wait())
        waited: set[asyncio.Future[Any]] = {quiet, self.crashed}
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
        finally:
            quiet.cancel()
        self._check()

    async def replay(self, entries: Sequence[Entry]) -> None:
        """Try dead events again. Each keeps its place in the order of its group's evidence."""
        self._check()
        for entry in entries:
            await self._line.store.revive(entry.group_id, entry.episode_id)
        async with self._intake:
            self._quiet.clear()
            await self._inbox.revive([entry.no for entry in entries])
            self._cursor = -1
        self._wake.set()

    async def stop(self) -> None:
        """Cancel what runs. A commit that has begun runs to its end; the rest is taken up at the next start."""
        self._closed = True
        while self._tasks:
            tasks = list(self._tasks)
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        self._release(Retryable("the memory was closed; the episode is kept and finished at the next start"))

    def _check(self) -> None:
        if self.crashed.done():
            raise self.crashed.result()
        if self._closed:
            raise Retryable("the memory is closed")

    async def _feed(self) -> None:
        while True:
            while len(self._pending) >= self._policy.max_pending:
                self._room.clear()
                await self._room.wait()
            async with self._intake:
                self._wake.clear()
                entries = await persist("reading the inbox", self._next_batch, self._policy.retry)
                if entries:
                    self._cursor = entries[-1].no
                elif not self._pending:
                    self._quiet.set()
            if entries:
                await self._take(entries)
            else:
                await self._wake.wait()

    async def _next_batch(self) -> list[Entry]:
        return await self._inbox.waiting(self._cursor, self._policy.batch, self._pending)

    async def _take(self, entries: Sequence[Entry]) -> None:
        tickets = []
        for entry in entries:
            try:
                episode = self._episode(entry)
            except InvalidEvent as error:
                # It was valid when it was accepted: the configuration has changed since.
                await self._finish(entry, EpisodeState.dead, f"reading the event: {error}")
                continue
            ticket = Ticket(entry, episode, asyncio.get_running_loop().create_future())
            self._pending[entry.no] = ticket
            tickets.append(ticket)
        await self._warm(texts_before(ticket.episode for ticket in tickets))
        for ticket in tickets:
            self._lanes.take(ticket)

    def _episode(self, entry: Entry) -> Episode:
        raw = json.loads(entry.value)
        event = parse_event(raw, ontologies=self._ontologies)
        return to_episode(raw, event, logged_at=entry.logged_at, sequence=entry.no)

    async def _warm(self, texts: Sequence[str]) -> None:
        """Embed texts ahead, in one call. The stages ask for each of them again, so a failure here costs nothing."""
        if not texts:
            return
        try:
            await self._embedder.embed(texts)
        except SettingError:
            raise
        except Exception as error:
            log.info("texts could not be embedded ahead, the stages will ask again: %r", error)

    async def _finish(self, entry: Entry, state: EpisodeState, reason: str | None = None) -> None:
        async def keep() -> None:
            if reason is None:
                await self._inbox.finish(entry.no)
            else:
                await self._line.store.mark_dead(entry.group_id, entry.episode_id, reason)
                await self._inbox.bury(entry.no, reason)

        await persist("closing the event", keep, self._policy.retry)
        self._pending.pop(entry.no, None)
        future = self._watchers.pop(entry.no, None)
        if future is not None and not future.done():
            future.set_result(Added(entry.episode_id, entry.group_id, state, reason))
        self._room.set()
        if not self._pending:
            # The feeder looks once more into the inbox before it says that nothing is left.
            self._wake.set()

    def _spawn(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if task.cancelled() or (error := task.exception()) is None:
            return
        if not self.crashed.done():
            log.error("the runner stops: %r", error)
            self.crashed.set_result(error)
        for other in self._tasks:
            other.cancel()
        self._release(error)

    def _release(self, error: BaseException) -> None:
        told = error if isinstance(error, FactstreamError) else RuntimeError(f"the runner stopped: {error!r}")
        for future in self._watchers.values():
            if not future.done():
                future.set_exception(told)
        self._watchers.clear()


def _heard(future: asyncio.Future[Added]) -> None:
    if not future.cancelled():
        future.exception()
