"""The state that lanes keep: a ticket per event, a lane per group. No decisions here."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from streams.event import Event
from streams.failure import Failure


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
