"""The state that lanes keep: a ticket per event, a lane per group, an intake per partition. No decisions here."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from streams.event import Event
from streams.failure import Failure
from streams.partition_ledger import PartitionLedger


@dataclass(slots=True)
class Ticket:
    """An event on its way. `ahead` gets (admitted, prepared), or the failure that ended one of these phases."""

    event: Event
    taken_at: float
    ahead: asyncio.Future[tuple[Any, Any] | Failure]

    def settle_ahead(self, outcome: tuple[Any, Any] | Failure) -> None:
        """Hands the outcome of the phases ahead to the event's turn."""
        if not self.ahead.done():
            self.ahead.set_result(outcome)


@dataclass(slots=True)
class Lane:
    """The events of one group in one partition, oldest first; a worker for their turns, an admitter ahead of it."""

    key: bytes
    tickets: deque[Ticket] = field(default_factory=deque)
    unadmitted: deque[Ticket] = field(default_factory=deque)
    worker: asyncio.Task[None] | None = None
    admitter: asyncio.Task[None] | None = None


@dataclass(slots=True)
class Intake:
    """What was taken in from one partition since it was assigned. Once `closed`, nothing of it counts any more."""

    ledger: PartitionLedger = field(default_factory=PartitionLedger)
    events: dict[int, Event] = field(default_factory=dict)
    lanes: dict[bytes, Lane] = field(default_factory=dict)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    async def wait_for_room(self) -> None:
        """Waits until something was finished, or a drain began."""
        self.room.clear()
        await self.room.wait()
