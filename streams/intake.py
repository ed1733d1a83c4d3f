"""What was taken in from one partition: in hand by lane, done by ledger, and set aside by group."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from streams.event import Event
from streams.lane import Lane
from streams.lane_policy import LanePolicy
from streams.notes import MOST_GROUPS, tag_of, write_note
from streams.overflow import Overflow
from streams.partition_ledger import PartitionLedger


@dataclass(slots=True)
class Intake:
    """Since the partition was assigned. Once `closed`, nothing of it counts any more.

    base: the committed position at that time, None when there was none. A group is either in `ledger`, or, when it
    has more than its share, in its own `Overflow`; never in both.
    """

    base: int | None = None
    ledger: PartitionLedger = field(default_factory=PartitionLedger)
    events: dict[int, Event] = field(default_factory=dict)
    lanes: dict[bytes, Lane] = field(default_factory=dict)
    parked: set[int] = field(default_factory=set)
    overflows: dict[str, Overflow] = field(default_factory=dict)
    room: asyncio.Event = field(default_factory=asyncio.Event)
    refilling: asyncio.Task[None] | None = None
    closed: bool = False

    @classmethod
    def restored(cls, base: int, aside: Mapping[str, int]) -> Intake:
        """As a committed position and its note say."""
        left = {tag: Overflow((start, base)) for tag, start in aside.items() if start < base}
        return cls(base, overflows=left)

    @property
    def waiting(self) -> int:
        """Events in hand that are unfinished and not parked."""
        return self.unfinished - len(self.parked)

    @property
    def unfinished(self) -> int:
        """Events in hand that are not done."""
        return self.ledger.unfinished + sum(o.ledger.unfinished for o in self.overflows.values())

    @property
    def pending(self) -> int:
        """Events in hand that cannot be acknowledged yet."""
        return self.ledger.pending + sum(o.ledger.pending for o in self.overflows.values())

    @property
    def deferred(self) -> int:
        """Events that were passed over and are not in hand."""
        return sum(overflow.deferred for overflow in self.overflows.values())

    @property
    def oldest(self) -> Event | None:
        """The first event in the log that is in hand, unfinished and not parked."""
        offsets = self.events.keys() - self.parked
        return self.events[min(offsets)] if offsets else None

    @property
    def position(self) -> int | None:
        """What may be committed: everything below is done or in the note. None when nothing is known yet."""
        done = self.ledger.acknowledgeable
        return self.base if done is None else done

    @property
    def note(self) -> str:
        """The note that belongs beside the position."""
        places = ((tag, overflow.position) for tag, overflow in self.overflows.items())
        return write_note({tag: place for tag, place in places if place is not None})

    def overflow_of(self, lane: bytes) -> Overflow | None:
        """The account of a group that was set aside."""
        return self.overflows.get(tag_of(lane)) if self.overflows else None

    def has_share(self, lane: bytes, policy: LanePolicy) -> bool:
        """Whether a group has as much in hand as it may. Parked events count only where all of them are too many, so
        that the texts of a group without budget are stored and can be searched meanwhile."""
        held = self.lanes.get(lane)
        if held is None:
            return False
        return len(held.tickets) >= policy.share or (bool(held.aside) and len(self.parked) >= policy.max_held)

    def set_aside(self, lane: bytes) -> Overflow | None:
        """Moves what is in hand of a group to an account of its own, so that it holds up no position.

        None when so many groups are aside that the note is full.
        """
        tag = tag_of(lane)
        if tag in self.overflows:
            return self.overflows[tag]
        if len(self.overflows) >= MOST_GROUPS:
            return None
        overflow = self.overflows[tag] = Overflow()
        overflow.lane = lane
        held = self.lanes.get(lane)
        tickets = [*held.tickets, *held.aside] if held else []
        for offset in sorted(ticket.event.offset for ticket in tickets):
            overflow.ledger.take(offset)
            self.ledger.finish(offset)
        return overflow

    def finish(self, event: Event) -> None:
        """An event is done."""
        del self.events[event.offset]
        overflow = self.overflow_of(event.lane)
        if overflow is None:
            self.ledger.finish(event.offset)
            return
        overflow.ledger.finish(event.offset)
        self.close_if_done(tag_of(event.lane))

    def close_if_done(self, tag: str) -> None:
        """A group of which nothing is left is aside no longer."""
        if self.overflows[tag].position is None:
            del self.overflows[tag]

    def full(self, policy: LanePolicy) -> bool:
        """Whether nothing more may be taken in for now. What waits for a parked event does not fill a partition."""
        pending = self.ledger.pending
        parked = len(self.ledger.open & self.parked)
        if not parked:
            return pending >= policy.max_pending
        waiting = self.ledger.unfinished - parked
        return waiting >= policy.max_pending or pending >= policy.max_held + policy.max_pending

    def head(self) -> bytes | None:
        """The group whose event alone holds up the position, while half of what is pending or more is done."""
        oldest = self.ledger.oldest
        if oldest is None or self.ledger.unfinished * 2 > self.ledger.pending:
            return None
        return self.events[oldest].lane

    def backlog(self) -> dict[bytes, int]:
        """Events by group that are not done, in hand or passed over."""
        counts = {key: len(lane.tickets) + len(lane.aside) for key, lane in self.lanes.items()}
        for overflow in self.overflows.values():
            if overflow.lane is not None:
                counts[overflow.lane] = counts.get(overflow.lane, 0) + overflow.deferred
        return counts

    async def wait_for_room(self) -> None:
        """Waits until something was finished, or a drain began."""
        self.room.clear()
        await self.room.wait()
