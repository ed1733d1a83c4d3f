"""Gives the groups of a partition that were set aside what was passed over of them, as they have room for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from streams.event import Event, Partition
from streams.intake import Intake
from streams.lane_policy import LanePolicy
from streams.notes import tag_of
from streams.overflow import Overflow

ReadBack = Callable[[Partition, int], Awaitable[tuple[Sequence[Event], int]]]
"""Reads records of a partition from an offset on: some of them, and the offset up to which there are no others. Never
raises for what Kafka does; it waits a little and answers nothing and the same offset."""


class Refill:
    """Runs for as long as a group of the partition is aside. One batch of each group is in memory at most.

    `enter` takes an event into its lane, `tell` acknowledges what has changed.
    """

    def __init__(
        self,
        intake: Intake,
        partition: Partition,
        policy: LanePolicy,
        read_back: ReadBack,
        enter: Callable[[Event, Intake], None],
        tell: Callable[[Intake, Partition], None],
    ) -> None:
        self._intake = intake
        self._partition = partition
        self._policy = policy
        self._read_back = read_back
        self._enter = enter
        self._tell = tell

    async def run(self) -> None:
        """Until no group is aside. A drain cancels it."""
        intake = self._intake
        while intake.overflows and not intake.closed:
            moved = False
            for tag, overflow in list(intake.overflows.items()):
                moved |= await self._one(tag, overflow)
            if not moved and intake.overflows:
                await intake.wait_for_room()
        intake.refilling = None

    async def _one(self, tag: str, overflow: Overflow) -> bool:
        moved = False
        while self._has_room(overflow) and not self._intake.closed:
            event = overflow.take()
            if event is not None:
                overflow.lane = event.lane
                self._enter(event, self._intake)
                moved = True
                continue
            wanted = overflow.wanted
            if wanted is None:
                break
            events, until = await self._read_back(self._partition, wanted)
            overflow.read([event for event in events if tag_of(event.lane) == tag], until)
            moved = True
            if not overflow.batch:
                # Nothing of it there: the others of the partition have their turn first.
                break
        if tag in self._intake.overflows and overflow.position is None:
            self._intake.close_if_done(tag)
            self._tell(self._intake, self._partition)
        return moved

    def _has_room(self, overflow: Overflow) -> bool:
        return overflow.lane is None or not self._intake.has_share(overflow.lane, self._policy)
