"""An installation of its own for each test: a prefix, its topics, a producer, and a reader of what came out."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.broker import committed_notes
from streams.event import Partition
from streams.notes import lowest
from streams.producer import Producer
from streams.topic_setup import ensure_topics
from streams.topics import Topic

PARTITIONS = 4


@dataclass
class Installation:
    """Topics under a prefix that no other test has."""

    bootstrap: str
    prefix: str
    producer: Producer

    @property
    def group(self) -> str:
        """The consumer group of its workers."""
        return self.prefix + "workers"

    async def send(self, topic: Topic, key: bytes | None, value: bytes | None) -> None:
        await self.producer.send(topic.named(self.prefix), key, value)

    async def read(self, topic: Topic, until: Callable[[list[Any]], bool], seconds: float = 60) -> list[Any]:
        """All records of a topic so far, in the order of reading, as soon as they satisfy the condition."""
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, auto_offset_reset="earliest")
        records: list[Any] = []
        await consumer.start()
        try:
            parts = [TopicPartition(topic.named(self.prefix), n) for n in range(PARTITIONS)]
            consumer.assign(parts)
            async with asyncio.timeout(seconds):
                while not until(records):
                    for batch in (await consumer.getmany(timeout_ms=500)).values():
                        records.extend(batch)
        except TimeoutError:
            raise AssertionError(f"{topic.name} has {len(records)} records, which is not enough") from None
        finally:
            await consumer.stop()
        return records

    async def uncommitted(self, topic: Topic) -> int:
        """Records that the workers' group has not committed."""
        committed = await committed_notes(self.bootstrap, self.group)
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap)
        await consumer.start()
        try:
            parts = [TopicPartition(topic.named(self.prefix), n) for n in range(PARTITIONS)]
            ends = await consumer.end_offsets(parts)
            return sum(ends[part] - lowest(*committed.get(Partition(*part), (0, ""))) for part in parts)
        finally:
            await consumer.stop()


async def eventually(condition: Callable[[], bool], seconds: float = 30) -> None:
    """Waits for a condition, within a bound."""
    for _ in range(int(seconds / 0.05)):
        if condition():
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"not within {seconds} s")


@pytest.fixture
def wait_for() -> Callable[..., Any]:
    return eventually


@pytest.fixture
async def installation(kafka_bootstrap: str) -> AsyncIterator[Installation]:
    prefix = f"t{uuid.uuid4().hex[:8]}."
    await ensure_topics(kafka_bootstrap, prefix, partitions=PARTITIONS)
    producer = Producer(kafka_bootstrap)
    yield Installation(kafka_bootstrap, prefix, producer)
    await producer.stop()
