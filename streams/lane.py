"""The state that lanes keep: a ticket per event, a lane per group, an intake per partition. No decisions here."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from streams.event import Event
from streams.failure import Failure
from streams.lane_policy import LanePolicy
from streams.partition_ledger import PartitionLedger


class Aside:
    """Says that a ticket has stepped out of its lane, so that the next one may have its turn."""


Ahead = tuple[Any, Any] | Failure


@dataclass(slots=True, eq=False)
class Ticket:
    """An event on its way. `ahead` gets (admitted, prepared), or the failure that ended one of these phases."""

    event: Event
    taken_at: float
    ahead: asyncio.Future[Ahead | Aside]

    def settle_ahead(self, outcome: Ahead) -> None:
        """Hands the outcome of the phases ahead to the event's turn."""
        if not self.ahead.done():
            self.ahead.set_result(outcome)


@dataclass(slots=True)
class Lane:
    """The events of one group in one partition, oldest first; a worker for their turns, an admitter ahead of it.

    A ticket that is parked steps `aside`: it is not among `tickets` until it steps back, in its old order.
    """

    key: bytes
    tickets: deque[Ticket] = field(default_factory=deque)
    aside: set[Ticket] = field(default_factory=set)
    unadmitted: deque[Ticket] = field(default_factory=deque)
    worker: asyncio.Task[None] | None = None
    admitter: asyncio.Task[None] | None = None

    @property
    def empty(self) -> bool:
        """Whether nothing waits in it, here or aside."""
        return not self.tickets and not self.aside

    def step_aside(self, ticket: Ticket) -> None:
        """Takes a ticket out; whoever waited for it is told so. Again: nothing."""
        if ticket in self.aside:
            return
        self.tickets.remove(ticket)
        self.aside.add(ticket)
        waited, ticket.ahead = ticket.ahead, asyncio.get_running_loop().create_future()
        waited.set_result(Aside())

    def step_back(self, ticket: Ticket) -> None:
        """Puts a ticket back among those that wait, by its offset; the one that has its turn keeps it."""
        self.aside.discard(ticket)
        later = (place for place, t in enumerate(self.tickets) if t.event.offset > ticket.event.offset)
        self.tickets.insert(next(later, len(self.tickets)), ticket)


@dataclass(slots=True)
class Intake:
    """What was taken in from one partition since it was assigned. Once `closed`, nothing of it counts any more."""

    ledger: PartitionLedger = field(default_factory=PartitionLedger)
    events: dict[int, Event] = field(default_factory=dict)
    lanes: dict[bytes, Lane] = field(default_factory=dict)
    parked: set[int] = field(default_factory=set)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    @property
    def waiting(self) -> int:
        """Events that are unfinished and not parked."""
        return self.ledger.unfinished - len(self.parked)

    @property
    def oldest(self) -> Event | None:
        """The first event in the log that is unfinished and not parked."""
        return next((event for offset, event in self.events.items() if offset not in self.parked), None)

    def full(self, policy: LanePolicy) -> bool:
        """Whether nothing more may be taken in for now. What waits for a parked event does not fill a partition."""
        pending = self.ledger.pending
        if not self.parked:
            return pending >= policy.max_pending
        return self.waiting >= policy.max_pending or pending >= policy.max_held + policy.max_pending

    async def wait_for_room(self) -> None:
        """Waits until something was finished, or a drain began."""
        self.room.clear()
        await self.room.wait()
