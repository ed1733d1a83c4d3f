"""Which events of one partition are finished, and up to where that may be told to Kafka."""

from __future__ import annotations

from collections.abc import KeysView


class PartitionLedger:
    """Offsets taken in from one partition, in order, and which of them are done.

    Kafka keeps one number per partition: everything below it is finished. So only the contiguous done prefix counts,
    however far work ran ahead behind it. Offsets may have gaps (compaction, transaction markers): contiguous means
    without an unfinished offset between, not without a missing number. Pure: no clock, no Kafka.
    """

    def __init__(self) -> None:
        self._open: dict[int, bool] = {}
        self._unfinished = 0
        self._highest = -1
        self._acknowledgeable: int | None = None

    @property
    def pending(self) -> int:
        """How many taken offsets are not acknowledgeable yet, done ones behind an unfinished one included."""
        return len(self._open)

    @property
    def unfinished(self) -> int:
        """How many taken offsets are not done."""
        return self._unfinished

    @property
    def open(self) -> KeysView[int]:
        """The taken offsets that are not acknowledgeable yet."""
        return self._open.keys()

    @property
    def oldest(self) -> int | None:
        """The lowest unfinished offset, or None."""
        return next(iter(self._open), None)

    @property
    def acknowledgeable(self) -> int | None:
        """The next offset to read after the done prefix (what Kafka calls the committed offset), or None."""
        return self._acknowledgeable

    def take(self, offset: int) -> bool:
        """Notes an offset as taken in. False for one that was taken before (a re-read): it must not run twice."""
        if offset <= self._highest:
            return False
        self._highest = offset
        self._open[offset] = False
        self._unfinished += 1
        return True

    def finish(self, offset: int) -> int | None:
        """Notes an offset as done; the new acknowledgeable offset if it moved, else None.

        Raises KeyError for an offset that was not taken or is already done.
        """
        if self._open[offset]:
            raise KeyError(offset)
        self._open[offset] = True
        self._unfinished -= 1
        moved = False
        while self._open:
            first = next(iter(self._open))
            if not self._open[first]:
                break
            del self._open[first]
            self._acknowledgeable = first + 1
            moved = True
        return self._acknowledgeable if moved else None
