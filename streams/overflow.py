"""A group that has more than its share in a partition: what of it was passed over, and how far it was read again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from streams.event import Event
from streams.partition_ledger import PartitionLedger


class Overflow:
    """The account of one group that was set aside. Pure: no clock, no Kafka.

    Its events have their own ledger. Those that the reader of the partition passes over are known by their offsets, as
    ranges, so that a burst of a million takes no room, and read again by them, a batch at a time. After a restart only the range is known in which they
    are: `scan` is read through for them first.

    Args:
        scan: (from, to): offsets to be looked through for the group's events, the second exclusive.
    """

    def __init__(self, scan: tuple[int, int] | None = None) -> None:
        self.ledger = PartitionLedger()
        self.batch: deque[Event] = deque()
        self.lane: bytes | None = None
        self._skipped: deque[list[int]] = deque()
        self._count = 0
        self._scan = scan if scan is not None and scan[0] < scan[1] else None

    def skip(self, offset: int) -> None:
        """The reader of the partition has passed over an event."""
        self._count += 1
        if self._skipped and self._skipped[-1][1] == offset:
            self._skipped[-1][1] = offset + 1
        else:
            self._skipped.append([offset, offset + 1])

    @property
    def wanted(self) -> int | None:
        """The offset to read from next; None when nothing is left to be read."""
        if self._scan is not None:
            return self._scan[0]
        return self._skipped[0][0] if self._skipped else None

    def read(self, events: Iterable[Event], until: int) -> None:
        """What was read from `wanted` on, up to `until` exclusive: the group's events in it go into the batch."""
        if self._scan is not None:
            start, end = self._scan
            self.batch.extend(event for event in events if start <= event.offset < end)
            self._scan = (until, end) if until < end else None
            return
        # One that is not there any more gave way to a later record of the same key, which comes in its own turn.
        passed: list[range] = []
        while self._skipped and self._skipped[0][0] < until:
            start, end = self._skipped.popleft()
            passed.append(range(start, min(end, until)))
            if until < end:
                self._skipped.appendleft([until, end])
        self._count -= sum(map(len, passed))
        self.batch.extend(event for event in events if any(event.offset in one for one in passed))

    def take(self) -> Event | None:
        """The next event of the batch, now in the ledger; None when the batch is empty."""
        while self.batch:
            event = self.batch.popleft()
            if self.ledger.take(event.offset):
                return event
        return None

    @property
    def position(self) -> int | None:
        """The lowest offset that is not done; None when all are, and the group needs to be aside no longer."""
        batch = self.batch[0].offset if self.batch else None
        places = (self.ledger.oldest, batch, self.wanted)
        return min((place for place in places if place is not None), default=None)

    @property
    def deferred(self) -> int:
        """Events that are not in hand; after a restart at most so many."""
        scan = 0 if self._scan is None else self._scan[1] - self._scan[0]
        return len(self.batch) + self._count + scan
