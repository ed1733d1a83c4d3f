"""LaneWork: what happens to tickets, group by group."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Sequence
from functools import partial
from typing import Any, Protocol

from factstream.memory.inbox import Entry
from factstream.memory.lane import Ahead, Lane, Ticket
from factstream.memory.line import Line, Resolved
from factstream.memory.policy import RunnerPolicy
from factstream.memory.retrying import GivenUp, persist
from factstream.memory.warming import texts_after
from pipeline.extraction.model.company import Company
from pipeline.graph.extraction_port import Received
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import Extraction

log = logging.getLogger(__name__)

CALLS_OF_ROUND = 4
"""Full calls that one round of extractions side by side may fill; a group's other episodes wait for the next round, so
that a budget is looked at in between."""


class Finish(Protocol):
    """Is told what has become of an event; a dead one has its reason. It must not fail."""

    async def __call__(self, entry: Entry, state: EpisodeState, reason: str | None = None) -> None: ...


class LaneWork:
    """Runs the steps of a `Line`: in a group one ticket after the other, extraction ahead, groups side by side.

    Args:
        warm: embeds texts ahead in one call.
        finish: is told of every ticket's end.
        spawn: starts a task whose unexpected error ends the runner.
        pending: all tickets on their way, for a look at what else is ready.
    """

    def __init__(
        self,
        line: Line,
        policy: RunnerPolicy,
        *,
        warm: Callable[[Sequence[str]], Awaitable[None]],
        finish: Finish,
        spawn: Callable[[Coroutine[Any, Any, None]], asyncio.Task[None]],
        pending: Callable[[], Iterable[Ticket]],
    ) -> None:
        self._line = line
        self._policy = policy
        self._warm = warm
        self._finish = finish
        self._spawn = spawn
        self._pending = pending
        self._lanes: dict[str, Lane] = {}
        self._turns = asyncio.Semaphore(policy.concurrency)
        self._ahead = asyncio.Semaphore(policy.ahead)

    def take(self, ticket: Ticket) -> None:
        """Put a ticket at the end of its group's lane."""
        lane = self._lanes.setdefault(ticket.entry.group_id, Lane(ticket.entry.group_id))
        lane.tickets.append(ticket)
        lane.unadmitted.append(ticket)
        if lane.admitter is None:
            lane.admitter = self._spawn(self._admit(lane))
        if lane.worker is None:
            lane.worker = self._spawn(self._work(lane))

    async def _admit(self, lane: Lane) -> None:
        asked = self._policy.asked
        admitted: list[tuple[Ticket, Received]] = []
        while lane.unadmitted:
            ticket = lane.unadmitted.popleft()
            try:
                received = await self._admitted(ticket)
            except GivenUp as given_up:
                ticket.ahead.set_result(given_up)
            else:
                admitted.append((ticket, received))
            if asked == 1 or not lane.unadmitted or len(admitted) >= CALLS_OF_ROUND * asked:
                self._begin(lane, admitted)
                admitted = []
        lane.admitter = None
        self._drop_idle(lane)

    async def _admitted(self, ticket: Ticket) -> Received:
        return await persist(
            "storing the episode", lambda: self._line.admit(ticket.episode), self._policy.retry
        )

    def _begin(self, lane: Lane, admitted: Sequence[tuple[Ticket, Received]]) -> None:
        if len(admitted) > 1:
            self._spawn(self._prepare_together(lane, admitted))
            return
        for ticket, received in admitted:
            self._spawn(self._prepare(ticket, received))

    async def _prepare_together(self, lane: Lane, admitted: Sequence[tuple[Ticket, Received]]) -> None:
        # One place for all: with a place each, two rounds could wait for each other.
        async with lane.turn, self._ahead:
            company = Company(len(admitted), self._policy.asked)
            firsts = [
                asyncio.create_task(company.read(partial(self._line.prepare, received)))
                for _, received in admitted
            ]
            for (ticket, received), first in zip(admitted, firsts, strict=True):
                self._spawn(self._prepare(ticket, received, first))
            # Its end cancels them; their errors are seen to by whoever prepares the ticket.
            await asyncio.gather(*firsts, return_exceptions=True)

    async def _prepare(
        self, ticket: Ticket, received: Received, first: asyncio.Task[Extraction | None] | None = None
    ) -> None:
        async def once() -> Extraction | None:
            nonlocal first
            if first is not None:
                begun, first = first, None
                return await begun
            # A place for each try, so that a pause holds none.
            async with self._ahead:
                return await self._line.prepare(received)

        try:
            extraction = await persist("extract", once, self._policy.retry)
        except GivenUp as given_up:
            ticket.ahead.set_result(given_up)
        else:
            ticket.ahead.set_result((received, extraction))

    async def _work(self, lane: Lane) -> None:
        while lane.tickets:
            ticket = lane.tickets[0]
            await self._resolve(lane, ticket, await ticket.ahead)
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

        async def resolve() -> Resolved:
            async with self._turns:
                return await self._line.resolve(received, extraction)

        try:
            resolved = await persist("resolve", resolve, self._policy.retry)
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
        for ticket in self._pending():
            if ticket.warmed or not ticket.ahead.done():
                continue
            ticket.warmed = True
            ahead = ticket.ahead.result()
            if not isinstance(ahead, GivenUp) and ahead[1] is not None:
                found.append(ahead[1])
        await self._warm(texts_after(found))

    async def _settle_communities(self, lane: Lane) -> None:
        behind, lane.behind = lane.behind, []
        if not behind:
            return
        pairs = [(episode, touched) for _, episode, touched in behind]

        async def settle() -> None:
            async with self._turns:
                await self._line.settle_communities(pairs)

        try:
            await persist("update communities", settle, self._policy.retry)
        except GivenUp as given_up:
            # The episodes are committed and stay so; a rebuild mends their communities.
            log.error("the communities of group %r are behind: %s", lane.group_id, given_up)
        for ticket, _, _ in behind:
            await self._finish(ticket.entry, EpisodeState.committed)

    async def _bury(self, entry: Entry, reason: str) -> None:
        await self._finish(entry, EpisodeState.dead, reason)
