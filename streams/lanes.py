"""Lanes: side by side over groups, strictly in order inside one, acknowledged only as far as all is done.

Every way out of the loop is one of three: done, dead-lettered (durable), or left unacknowledged for whoever reads the
partition next. `docs` and the tests tell the reasons; the decisions are in `partition_ledger` and `verdict`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from pipeline.errors import NewerFormat
from streams.attempts import Attempts
from streams.drained import Drained
from streams.event import Event, Partition
from streams.event_format import FORMAT_HEADER, check_format
from streams.failure import Failure
from streams.halt import Halt
from streams.halt_policy import HaltPolicy
from streams.health.stage_state import StageState
from streams.intake import Intake
from streams.lane import Ahead, Aside, Lane, Ticket
from streams.lane_observer import LaneObserver, Outcome, SilentLaneObserver
from streams.lane_policy import LanePolicy
from streams.lane_tasks import LaneTasks
from streams.lane_work import LaneWork
from streams.refill import ReadBack
from streams.sharing import Sharing
from streams.stage_watch import StageWatch
from streams.timing import Timing
from streams.turn import Bury, Turns

A = TypeVar("A")
P = TypeVar("P")

Acknowledge = Callable[[Partition, int, str], None]
"""Takes what may be committed of a partition, each time it changes: the next offset to read, and the note beside it."""


class Lanes(Generic[A, P]):
    """The lanes of one stage: one per (partition, group), each with one running handler.

    With `read_back` a group that has more than its share is set aside: the reader of its partition passes over its
    further events, and they are read again when there is room for them. `generation` answers the consumer group's generation; events of another one are dropped unacknowledged.
    `crash` is told of a bug in here; the process must then end, with the event unacknowledged.
    """

    def __init__(
        self,
        stage: str,
        work: LaneWork[A, P],
        *,
        bury: Bury,
        acknowledge: Acknowledge,
        generation: Callable[[], int],
        crash: Callable[[BaseException], Any],
        policy: LanePolicy | None = None,
        halt: HaltPolicy | None = None,
        observer: LaneObserver | None = None,
        timing: Timing | None = None,
        read_back: ReadBack | None = None,
    ) -> None:
        self.stage = stage
        self._policy = policy or LanePolicy()
        self._work = work
        self._acknowledge = acknowledge
        self._generation = generation
        self._crash = crash
        self._observer = observer or SilentLaneObserver()
        self._timing = timing or Timing()
        self._tasks = LaneTasks(self._policy.concurrency, crash)
        self._attempts = Attempts(stage, self._policy, self._observer, self._timing)
        self.halt = Halt(stage, halt or HaltPolicy(), self._timing)
        self._settling = Turns(work, self._attempts, self.halt, bury, self._tasks.turn)
        self._sharing = Sharing(self._policy, read_back, self._enter, self._tell, self._tasks.spawn)
        self._intakes: dict[Partition, Intake] = {}
        self.watch = StageWatch(stage, self._intakes, self._attempts.calls, self._timing)
        self._suspended = self._refused = False
        self._admissions = asyncio.Semaphore(self._policy.concurrency)
        self._preparations = asyncio.Semaphore(self._policy.ahead)

    async def run(self, events: AsyncIterator[Event]) -> None:
        """Takes in events for as long as there are any; may run once per partition, side by side."""
        async for event in events:
            await self.offer(event)

    async def offer(self, event: Event) -> None:
        """Takes in one event, waiting while its partition is full. Never raises for what the event is.

        One of a newer format ends the process: nothing is taken in any more, so that nothing behind it is
        acknowledged.
        """
        try:
            check_format(event.place, event.header(FORMAT_HEADER))
        except NewerFormat as newer:
            self._refused = True
            self._crash(newer)
        intake = self._intakes.setdefault(event.source, Intake())
        while self._accepts(event, intake):
            if self._sharing.passes_over(event, intake):
                return
            if not intake.full(self._policy):
                break
            if not self._sharing.frees(intake, event.source):
                await intake.wait_for_room()
        if self._accepts(event, intake) and intake.ledger.take(event.offset):
            self._enter(event, intake)

    def restore(self, partition: Partition, position: int, aside: Mapping[str, int]) -> None:
        """A partition was assigned whose committed position has a note. After a drain, before `resume`."""
        self._intakes[partition] = Intake.restored(position, aside)

    @property
    def in_flight(self) -> int:
        """Events that were taken in and are not acknowledgeable."""
        return sum(intake.pending for intake in self._intakes.values())

    def deferred(self, partition: Partition) -> int:
        """Events of a partition that are not done though the position to commit is above them."""
        intake = self._intakes.get(partition)
        if intake is None:
            return 0
        return intake.deferred + sum(one.ledger.unfinished for one in intake.overflows.values())

    def state(self) -> StageState:
        """The stage as it is now."""
        return self.watch.state(self.halt.reason)

    def report(self) -> None:
        """Tells the observer the backlog as it is now."""
        self._observer.backlog(self.stage, self.in_flight, self.watch.oldest_age)
        self._observer.parked(self.stage, self.watch.parked)
        self._observer.halted(self.stage, self.halt.halted)
        # A group is in one partition, so nothing is counted twice.
        backlog = {lane: n for intake in self._intakes.values() for lane, n in intake.backlog().items()}
        self._observer.group_backlog(self.stage, backlog)

    async def drain(self, grace: float) -> Drained:
        """Stops: nothing new starts, handlers in their turn get `grace` seconds, the rest is cancelled.

        What is done by then was acknowledged; everything else stays unacknowledged and is read again by whoever has
        the partition next. Afterwards nothing of the old work can acknowledge any more, even if it outlives this.
        Answers how many events went which way.
        """
        taken = self._unfinished
        self._suspended = self._attempts.stopping = True
        self.halt.close()
        for intake in self._intakes.values():
            intake.room.set()
        cut = await self._tasks.settle(grace)
        left = self._unfinished
        for intake in self._intakes.values():
            intake.closed = True
        self._intakes.clear()
        await self._tasks.cancel()
        return Drained(finished=taken - left, given_back=left, cut=cut)

    @property
    def _unfinished(self) -> int:
        return sum(intake.unfinished for intake in self._intakes.values())

    def resume(self) -> None:
        """Takes in events again, after a drain."""
        self._suspended = self._attempts.stopping = False
        self.watch.moved()
        for partition, intake in self._intakes.items():
            self._sharing.refill_soon(intake, partition)

    def _enter(self, event: Event, intake: Intake) -> None:
        ticket = Ticket(event, self._timing.monotonic(), asyncio.get_running_loop().create_future())
        intake.events[event.offset] = event
        if self.watch.waiting == 1:
            self.watch.moved()
        lane = intake.lanes.setdefault(event.lane, Lane(event.lane))
        lane.tickets.append(ticket)
        if lane.worker is None:
            lane.worker = self._tasks.spawn(self._take_turns(lane, intake))
        if self._work.runs_ahead:
            lane.unadmitted.append(ticket)
            if lane.admitter is None:
                lane.admitter = self._tasks.spawn(self._admit(lane, intake))

    def _accepts(self, event: Event, intake: Intake) -> bool:
        if self._refused:
            return False
        return not self._suspended and not intake.closed and event.generation == self._generation()

    async def _take_turns(self, lane: Lane, intake: Intake) -> None:
        while lane.tickets and not self._suspended:
            ticket = lane.tickets[0]
            ahead: Ahead | Aside = (None, None)
            if self._work.runs_ahead:
                ahead = await ticket.ahead
            if isinstance(ahead, Aside):
                continue
            outcome = await self._settling.settle(ticket.event, ahead)
            if intake.closed:
                return
            # One that was parked may have stepped back in front of it meanwhile.
            lane.tickets.remove(ticket)
            self._finish(ticket, outcome, intake)
        lane.worker = None
        if lane.empty:
            intake.lanes.pop(lane.key, None)

    def _finish(self, ticket: Ticket, outcome: Outcome, intake: Intake) -> None:
        event = ticket.event
        intake.finish(event)
        self._tell(intake, event.source)
        intake.room.set()
        self.watch.moved()
        self._observer.event_finished(self.stage, outcome, self._timing.monotonic() - ticket.taken_at)

    def _tell(self, intake: Intake, partition: Partition) -> None:
        if (position := intake.position) is not None and not intake.closed:
            self._acknowledge(partition, position, intake.note)

    async def _admit(self, lane: Lane, intake: Intake) -> None:
        while lane.unadmitted:
            ticket = lane.unadmitted.popleft()
            event = ticket.event
            admitted = await self._attempts.run(
                "admit", event, partial(self._work.admit, event), lambda: self._admissions
            )
            if isinstance(admitted, Failure):
                ticket.settle_ahead(admitted)
            else:
                self._tasks.spawn(self._prepare(ticket, admitted, lane, intake))
        lane.admitter = None

    async def _prepare(self, ticket: Ticket, admitted: A, lane: Lane, intake: Intake) -> None:
        event = ticket.event

        def aside() -> None:
            intake.parked.add(event.offset)
            lane.step_aside(ticket)
            self._sharing.sets_aside(lane.key, intake, event.source)
            intake.room.set()

        prepared = await self._attempts.run(
            "prepare",
            event,
            lambda: self._work.prepare(event, admitted),
            lambda: self._preparations,
            aside=aside,
        )
        ticket.settle_ahead(prepared if isinstance(prepared, Failure) else (admitted, prepared))
        if ticket in lane.aside and not intake.closed:
            lane.step_back(ticket)
            intake.parked.discard(event.offset)
            if self.watch.waiting == 1:
                self.watch.moved()
            if lane.worker is None:
                lane.worker = self._tasks.spawn(self._take_turns(lane, intake))
