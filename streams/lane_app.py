"""The Faust application of a worker: lanes instead of agents that acknowledge on their own."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any, TypeVar

import faust
from aiokafka.errors import KafkaError

from streams.broker import committed_notes, partitions_of, require_topics, wait_for_broker
from streams.dead_letters import DeadLetters
from streams.delivery_settings import DeliverySettings
from streams.drained import Drained
from streams.errors import StartError
from streams.event import Event, Partition
from streams.faust_parts import check_faust
from streams.faust_settings import SAFE
from streams.halt_policy import HaltPolicy
from streams.health.stage_state import StageState
from streams.lane_consumer import LaneConsumer
from streams.lane_observer import LaneObserver, SilentLaneObserver
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.lanes import Lanes
from streams.notes import read_note
from streams.producer import Producer
from streams.read_back import KafkaReadBack
from streams.timing import Timing
from streams.topics import ALL_TOPICS, DEAD, Topic, partition_of

A = TypeVar("A")
P = TypeVar("P")


class LaneApp(faust.App):  # type: ignore[misc]
    """A worker's application. Made, started and stopped inside one running event loop.

    It starts once a broker answers and all topics exist, gives running handlers their grace at a rebalance or stop,
    commits what is done, and lets go of the rest. The producer is closed last.
    """

    def __init__(
        self,
        settings: DeliverySettings,
        *,
        producer: Producer | None = None,
        observer: LaneObserver | None = None,
        timing: Timing | None = None,
        topics: Iterable[Topic] = ALL_TOPICS,
    ) -> None:
        self._delivery = settings
        self.sender = producer or Producer(settings.bootstrap)
        self._observer = observer or SilentLaneObserver()
        self._timing = timing or Timing()
        self._required = [topic.named(settings.topic_prefix) for topic in topics]
        self._dead_letters = DeadLetters(self.sender, DEAD.named(settings.topic_prefix), self._timing.clock)
        self._stages: list[Lanes[Any, Any]] = []
        self._by_topic: dict[str, Lanes[Any, Any]] = {}
        self._read_back = KafkaReadBack(settings.bootstrap, lambda: int(self.consumer_generation_id))
        self._told_lag: set[faust.types.TP] = set()
        self._partition_counts: dict[str, int] = {}
        self._drained = Drained()
        self._draining: asyncio.Future[None] | None = None
        self._crash_tasks: set[asyncio.Task[None]] = set()
        super().__init__(
            settings.group,
            broker=[f"kafka://{server.strip()}" for server in settings.bootstrap.split(",")],
            # a rebalance waits for the drain of every member
            broker_rebalance_timeout=60.0 + 2 * settings.grace,
            **SAFE,
        )

    def stage(
        self,
        name: str,
        topic: Topic,
        work: LaneWork[A, P],
        policy: LanePolicy | None = None,
        halt: HaltPolicy | None = None,
    ) -> Lanes[A, P]:
        """Adds a stage: its lanes read `topic` and give each event to `work`. Before `serve`."""
        lanes = Lanes(
            name,
            work,
            bury=self._dead_letters.bury,
            acknowledge=self._acknowledge,
            generation=lambda: int(self.consumer_generation_id),
            crash=self._crash_soon,
            policy=policy,
            halt=halt,
            observer=self._observer,
            timing=self._timing,
            read_back=self._read_back,
        )
        self._by_topic[topic.named(self._delivery.topic_prefix)] = lanes
        channel = self.topic(
            topic.named(self._delivery.topic_prefix),
            key_type=bytes,
            value_type=bytes,
            key_serializer="raw",
            value_serializer="raw",
            # a tombstone would otherwise be refused as undecodable and lost
            allow_empty=True,
        )

        async def take_in(stream: Any) -> None:
            await lanes.run(_events(stream))

        self.agent(channel, name=name, isolated_partitions=True)(take_in)
        self._stages.append(lanes)
        return lanes

    async def serve(self, stop: asyncio.Event) -> Drained:
        """Runs until `stop` is set; answers what became of the running work.

        Raises StartError when it cannot start, and what crashed it when it crashed.
        """
        starting = asyncio.ensure_future(self.start())
        ends = [asyncio.ensure_future(event.wait()) for event in (stop, self._crashed, self._stopped)]
        try:
            await asyncio.wait([starting, ends[0]], return_when=asyncio.FIRST_COMPLETED)
            if not starting.done():
                # Still waiting for a broker: there is nothing to finish.
                starting.cancel()
                await asyncio.wait([starting])
            if not starting.cancelled():
                starting.result()
            await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for end in ends:
                end.cancel()
            self._drained = Drained()
            await self.stop()
        if self.crash_reason is not None:
            raise self.crash_reason
        return self._drained

    @property
    def partitions_held(self) -> int:
        """How many partitions are assigned to this worker."""
        consumer = getattr(self, "_consumer", None)
        return 0 if consumer is None else len(consumer.assignment())

    @property
    def poll_age(self) -> float | None:
        """Seconds since the consumer last asked for records; None before there is one."""
        consumer = getattr(self, "_consumer", None)
        return None if consumer is None else consumer.poll_age

    async def holds_group(self, group_id: str, topic: Topic) -> bool:
        """Whether this worker is the one that reads a group's partition of a topic. Raises KafkaError."""
        consumer = getattr(self, "_consumer", None)
        if consumer is None:
            return False
        name = topic.named(self._delivery.topic_prefix)
        if name not in self._partition_counts:
            self._partition_counts[name] = len(await partitions_of(self._delivery.bootstrap, name))
        number = partition_of(group_id, self._partition_counts[name])
        return faust.types.TP(name, number) in consumer.assignment()

    @property
    def states(self) -> list[StageState]:
        """Every stage as it is now."""
        return [lanes.state() for lanes in self._stages]

    async def on_first_start(self) -> None:
        """Checks what must be there. A worker that starts before its topics would sit idle and look healthy."""
        check_faust()
        await wait_for_broker(self._delivery.bootstrap, self._timing, self._delivery.broker_wait)
        await require_topics(self._delivery.bootstrap, self._required)
        await super().on_first_start()

    async def on_started_init_extra_tasks(self) -> None:
        """Starts the reports beside Faust's own tasks."""
        await super().on_started_init_extra_tasks()
        self.add_future(self._report())

    async def on_stop(self) -> None:
        """Drains, then closes the producer, since handlers use it to the last."""
        await super().on_stop()
        await self._read_back.stop()
        await self.sender.stop()

    def _new_consumer(self) -> Any:
        self.transport.Consumer = LaneConsumer
        return super()._new_consumer()

    def _create_directories(self) -> None:
        """None: the lanes keep nothing on disk."""

    async def _on_partitions_revoked(self, revoked: Any) -> None:
        await self._drain()
        # Faust has forgotten what it knew of these partitions by now, so the commit is ours
        if done := self.consumer.take_done():
            await self.consumer._commit(done)
        await super()._on_partitions_revoked(revoked)

    async def _on_partitions_assigned(self, assigned: Any, generation_id: int = 0) -> None:
        try:
            await self._restore(assigned)
        except ValueError as error:
            # A note of a later version: whoever goes on without it loses events.
            await self.crash(StartError(str(error)))
            return
        await super()._on_partitions_assigned(assigned, generation_id)
        for lanes in self._stages:
            lanes.resume()

    async def _restore(self, assigned: Iterable[Any]) -> None:
        """Reads the notes beside the committed positions. Without them events would be lost, so it does not go on."""
        ours = [tp for tp in assigned if tp.topic in self._by_topic]
        pause = 0.5
        while ours and not self.should_stop:
            try:
                notes = await committed_notes(self._delivery.bootstrap, self._delivery.group)
            except (KafkaError, OSError) as error:
                self.log.warning("The committed positions cannot be read: %r", error)
                await self._timing.sleep(pause)
                pause = min(5.0, pause * 2)
                continue
            for tp in ours:
                partition = Partition(tp.topic, tp.partition)
                position, note = notes.get(partition, (None, ""))
                self.consumer.restored(partition, note)
                if position is not None and (aside := read_note(note)):
                    self._by_topic[tp.topic].restore(partition, position, aside)
            return

    async def _stop_consumer(self) -> None:
        await self._drain()
        await super()._stop_consumer()

    def _on_rebalance_when_stopped(self) -> None:
        """Nothing: Faust would close the consumer here, from a loop that is not the consumer's, and hang on it."""

    async def _drain(self) -> None:
        """One at a time: a rebalance in the middle of a stop waits for the stop's."""
        if self._draining is None or self._draining.done():
            self._draining = asyncio.ensure_future(self._drain_all())
        await asyncio.shield(self._draining)

    async def _drain_all(self) -> None:
        for drained in await asyncio.gather(*(lanes.drain(self._delivery.grace) for lanes in self._stages)):
            self._drained += drained

    def _acknowledge(self, partition: Partition, position: int, note: str) -> None:
        self.consumer.mark_done(partition, position, note)

    def _crash_soon(self, error: BaseException) -> None:
        task = asyncio.get_running_loop().create_task(self.crash(error))
        self._crash_tasks.add(task)
        task.add_done_callback(self._crash_tasks.discard)

    async def _report(self) -> None:
        while not self.should_stop:
            for lanes in self._stages:
                lanes.report()
            held = {tp for tp in self.consumer.assignment() if tp.topic in self._required}
            for tp in self._told_lag - held:
                self._observer.partition_lost(tp.topic, tp.partition)
            self._told_lag = held
            for tp in held:
                if (events := self.consumer.lag(tp)) is not None:
                    if tp.topic in self._by_topic:
                        events += self._by_topic[tp.topic].deferred(Partition(tp.topic, tp.partition))
                    self._observer.lag(tp.topic, tp.partition, events)
            await self.sleep(self._delivery.report_every)


async def _events(stream: Any) -> AsyncIterator[Event]:
    async for event in stream.noack().events():
        yield Event.from_message(event.message)
