"""Whether a group has more than its share of a partition, and what is done about it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from streams.event import Event, Partition
from streams.intake import Intake
from streams.lane_policy import LanePolicy
from streams.refill import ReadBack, Refill


class Sharing:
    """Sets groups aside. Without `read_back` it never does: what is not read again must not be passed over.

    `enter` takes an event into its lane, `tell` acknowledges what has changed, `spawn` starts a task.
    """

    def __init__(
        self,
        policy: LanePolicy,
        read_back: ReadBack | None,
        enter: Callable[[Event, Intake], None],
        tell: Callable[[Intake, Partition], None],
        spawn: Callable[[Coroutine[Any, Any, None]], Any],
    ) -> None:
        self._policy = policy
        self._read_back = read_back
        self._enter = enter
        self._tell = tell
        self._spawn = spawn

    def passes_over(self, event: Event, intake: Intake) -> bool:
        """Whether an event is left for later, since its group is aside or has its share in hand."""
        if self._read_back is None:
            return False
        overflow = intake.overflow_of(event.lane)
        if overflow is None and intake.has_share(event.lane, self._policy):
            overflow = intake.set_aside(event.lane)
        if overflow is None:
            return False
        if intake.ledger.take(event.offset):
            intake.ledger.finish(event.offset)
            overflow.skip(event.offset)
            self._tell(intake, event.source)
            self.refill_soon(intake, event.source)
        return True

    def frees(self, intake: Intake, partition: Partition) -> bool:
        """Sets aside a group that alone holds up the others of a full partition; whether there was one."""
        lane = intake.head()
        return lane is not None and self.sets_aside(lane, intake, partition)

    def sets_aside(self, lane: bytes, intake: Intake, partition: Partition) -> bool:
        """Takes a group out of the partition's account, so that it holds up no position; whether there was room."""
        if self._read_back is None or intake.set_aside(lane) is None:
            return False
        self._tell(intake, partition)
        return True

    def refill_soon(self, intake: Intake, partition: Partition) -> None:
        """What was passed over comes back as there is room for it."""
        intake.room.set()
        if self._read_back is not None and intake.refilling is None and intake.overflows:
            refill = Refill(intake, partition, self._policy, self._read_back, self._enter, self._tell)
            intake.refilling = self._spawn(refill.run())
