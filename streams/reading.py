"""Reads a topic from its beginning to where it ends now."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.broker import partitions_of


async def read_to_end(bootstrap: str, topic: str) -> AsyncIterator[Any]:
    """All records up to now, in order inside a partition; none when the topic does not exist.

    Raises KafkaError when the broker does not answer.
    """
    partitions = [TopicPartition(topic, p) for p in await partitions_of(bootstrap, topic)]
    if not partitions:
        return
    # Not by seeking to the beginning: the consumer's own reset to the end may come after it.
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        consumer.assign(partitions)
        ends = await consumer.end_offsets(partitions)
        left = {tp for tp in partitions if await consumer.position(tp) < ends[tp]}
        while left:
            for tp, records in (await consumer.getmany(timeout_ms=1000)).items():
                for record in records:
                    if record.offset < ends[tp]:
                        yield record
            left = {tp for tp in left if await consumer.position(tp) < ends[tp]}
    finally:
        await consumer.stop()
