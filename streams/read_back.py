"""Reads records of a partition a second time, beside the consumer that reads it in order."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError

from pipeline.errors import Retryable
from streams.closing import closed
from streams.event import Event, Partition
from streams.topics import MIB

BATCH = 500
WAIT_MS = 500
PAUSE = 1.0

log = logging.getLogger(__name__)


class KafkaReadBack:
    """One consumer without a group, connected at the first use; one read at a time, so memory is bounded."""

    def __init__(self, bootstrap: str, generation: Callable[[], int]) -> None:
        self._bootstrap = bootstrap
        self._generation = generation
        self._consumer: Any = None
        self._lock = asyncio.Lock()

    async def __call__(self, partition: Partition, offset: int) -> tuple[Sequence[Event], int]:
        """See ReadBack."""
        async with self._lock:
            try:
                return await self._read(partition, offset)
            except (KafkaError, Retryable, OSError) as error:
                log.warning("%s/%d cannot be read again from %d: %r", *partition, offset, error)
                await self._discard()
        await asyncio.sleep(PAUSE)
        return (), offset

    async def stop(self) -> None:
        """Let go of the connection, whatever a read is waiting for."""
        await self._discard()

    async def _read(self, partition: Partition, offset: int) -> tuple[Sequence[Event], int]:
        consumer = await self._connected()
        place = TopicPartition(partition.topic, partition.number)
        if consumer.assignment() != {place}:
            consumer.assign([place])
        consumer.seek(place, offset)
        polled = await consumer.getmany(place, timeout_ms=WAIT_MS, max_records=BATCH)
        generation = self._generation()
        events = [Event.from_record(record, generation) for record in polled.get(place, ())]
        return events, max(offset, int(await consumer.position(place)))

    async def _connected(self) -> Any:
        if self._consumer is None:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=self._bootstrap,
                enable_auto_commit=False,
                auto_offset_reset="earliest",
                max_partition_fetch_bytes=MIB,
            )
            try:
                await consumer.start()
            except BaseException:
                await consumer.stop()
                raise
            self._consumer = consumer
        return self._consumer

    async def _discard(self) -> None:
        consumer, self._consumer = self._consumer, None
        if consumer is not None:
            await closed(consumer.stop(), "closing the consumer that reads back")
