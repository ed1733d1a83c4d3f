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
from factstream.memory.lane import Ahead, Lane, Ticket
from factstream.memory.line import Line
from factstream.memory.policy import RunnerPolicy
from factstream.memory.results import Added
from factstream.memory.retrying import GivenUp, persist
from factstream.memory.warming import texts_after, texts_before
from pipeline.embedding.port import Embedder
from pipeline.errors import FactstreamError, Retryable, SettingError
from pipeline.model.episode import EpisodeState
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
        self._lanes: dict[str, Lane] = {}
        self._pending: dict[int, Ticket] = {}
        self._watchers: dict[int, asyncio.Future[Added]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._intake = asyncio.Lock()
        self._wake = asyncio.Event()
        self._room = asyncio.Event()
        self._quiet = asyncio.Event()
        self._closed = False
        self._turns = asyncio.Semaphore(self._policy.concurrency)
        self._ahead = asyncio.Semaphore(self._policy.ahead)
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
        self._quiet.clear()
        try:
            # The feeder reads under the same lock, so that no event is finished before it is watched.
            async with self._intake:
                numbers = await self._inbox.append(records, at)
                if not watch:
                    return []
                loop = asyncio.get_running_loop()
                futures = [loop.create_future() for _ in numbers]
                self._watchers.update(zip(numbers, futures, strict=True))
                return futures
        finally:
            self._wake.set()

    async def drain(self) -> None:
        """Wait until every accepted event is finished. Raises what crashed the runner when it crashes."""
        self._check()
        quiet = asyncio.ensure_future(self._quiet.wait())
        await asyncio.wait({quiet, self.crashed}, return_when=asyncio.FIRST_COMPLETED)
        quiet.cancel()
        self._check()

    async def replay(self, entries: Sequence[Entry]) -> None:
        """Try dead events again. Each keeps its place in the order of its group's evidence."""
        for entry in entries:
            await self._line.store.revive(entry.group_id, entry.episode_id)
        async with self._intake:
            await self._inbox.revive([entry.no for entry in entries])
            self._cursor = -1
        self._quiet.clear()
        self._wake.set()

    async def stop(self) -> None:
        """Cancel what runs. A commit that has begun runs to its end; the rest is taken up at the next start."""
        self._closed = True
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._release(Retryable("the memory was closed; the episode is kept and finished at the next start"))

    def _check(self) -> None:
        if self.crashed.done():
            raise self.crashed.result()
        if self._closed:
            raise Retryable("the memory is closed")

    # Taking in

    async def _feed(self) -> None:
        retry = self._policy.retry
        while True:
            while len(self._pending) >= self._policy.max_pending:
                self._room.clear()
                await self._room.wait()
            async with self._intake:
                self._wake.clear()
                entries = await persist("reading the inbox", self._next_batch, retry)
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
                raw = json.loads(entry.value)
                event = parse_event(raw, ontologies=self._ontologies)
                episode = to_episode(raw, event, logged_at=entry.logged_at, sequence=entry.no)
            except InvalidEvent as error:
                # It was valid when it was accepted: the configuration has changed since.
                await self._bury(entry, f"reading the event: {error}")
                continue
            ahead: asyncio.Future[Ahead] = asyncio.get_running_loop().create_future()
            ticket = Ticket(entry, episode, ahead)
            self._pending[entry.no] = ticket
            tickets.append(ticket)
        await self._warm(texts_before(ticket.episode for ticket in tickets))
        for ticket in tickets:
            lane = self._lanes.setdefault(ticket.entry.group_id, Lane(ticket.entry.group_id))
            lane.tickets.append(ticket)
            lane.unadmitted.append(ticket)
            if lane.admitter is None:
                lane.admitter = self._spawn(self._admit(lane))
            if lane.worker is None:
                lane.worker = self._spawn(self._work(lane))

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

    # Ahead of its turn

    async def _admit(self, lane: Lane) -> None:
        while lane.unadmitted:
            ticket = lane.unadmitted.popleft()
            try:
                received = await persist(
                    "storing the episode", lambda t=ticket: self._line.admit(t.episode), self._policy.retry
                )
            except GivenUp as given_up:
                ticket.ahead.set_result(given_up)
            else:
                self._spawn(self._prepare(ticket, received))
        lane.admitter = None
        self._drop_idle(lane)

    async def _prepare(self, ticket: Ticket, received: Any) -> None:
        try:
            async with self._ahead:
                extraction = await persist(
                    "extract", lambda: self._line.prepare(received), self._policy.retry
                )
        except GivenUp as given_up:
            ticket.ahead.set_result(given_up)
        else:
            ticket.ahead.set_result((received, extraction))

    # In its turn

    async def _work(self, lane: Lane) -> None:
        while lane.tickets:
            ticket = lane.tickets[0]
            ahead = await ticket.ahead
            async with self._turns:
                await self._resolve(lane, ticket, ahead)
                lane.tickets.popleft()
                more = bool(lane.tickets) and lane.tickets[0].ahead.done()
                if not more or len(lane.behind) >= self._policy.together:
                    await self._settle_communities(lane)
        lane.worker = None
        self._drop_idle(lane)

    def _drop_idle(self, lane: Lane) -> None:
        if lane.worker is None and lane.admitter is None and not lane.tickets:
            self._lanes.pop(lane.group_id, None)

    async def _resolve(self, lane: Lane, ticket: Ticket, ahead: Ahead) -> None:
        if isinstance(ahead, GivenUp):
            await self._bury(ticket.entry, ahead.reason)
            return
        await self._warm_extracted()
        received, extraction = ahead
        try:
            resolved = await persist(
                "resolve", lambda: self._line.resolve(received, extraction), self._policy.retry
            )
        except GivenUp as given_up:
            await self._bury(ticket.entry, given_up.reason)
            return
        if resolved.touched is None:
            await self._finish(ticket.entry, resolved.state)
        else:
            lane.behind.append((ticket, received.stored.ref, resolved.touched))

    async def _warm_extracted(self) -> None:
        """One call for all extractions, of whatever group, that are ready by now."""
        found = []
        for ticket in self._pending.values():
            if not ticket.warmed and ticket.ahead.done() and not isinstance(ticket.ahead.result(), GivenUp):
                ticket.warmed = True
                result = ticket.ahead.result()
                if isinstance(result, tuple) and result[1] is not None:
                    found.append(result[1])
        await self._warm(texts_after(found))

    async def _settle_communities(self, lane: Lane) -> None:
        behind, lane.behind = lane.behind, []
        if not behind:
            return
        pairs = [(episode, touched) for _, episode, touched in behind]
        try:
            await persist(
                "update communities", lambda: self._line.settle_communities(pairs), self._policy.retry
            )
        except GivenUp as given_up:
            # The episodes are committed and stay so; a rebuild mends their communities.
            log.error("the communities of group %r are behind: %s", lane.group_id, given_up)
        for ticket, _, _ in behind:
            await self._finish(ticket.entry, EpisodeState.committed)

    async def _finish(self, entry: Entry, state: EpisodeState, reason: str | None = None) -> None:
        if reason is None:
            await persist("closing the event", lambda: self._inbox.finish(entry.no), self._policy.retry)
        self._pending.pop(entry.no, None)
        future = self._watchers.pop(entry.no, None)
        if future is not None and not future.done():
            future.set_result(Added(entry.episode_id, entry.group_id, state, reason))
        self._room.set()
        # The feeder looks once more into the inbox before it says that nothing is left.
        if not self._pending:
            self._wake.set()

    async def _bury(self, entry: Entry, reason: str) -> None:
        async def bury() -> None:
            await self._line.store.mark_dead(entry.group_id, entry.episode_id, reason)
            await self._inbox.bury(entry.no, reason)

        await persist("burying the event", bury, self._policy.retry)
        await self._finish(entry, EpisodeState.dead, reason)

    # Tasks

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
