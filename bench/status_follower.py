"""How far each episode has come and when, from `episodes.status`."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.broker import partitions_of
from streams.topics import STATUS

FINAL = ("committed", "skipped", "dead")
WITHIN = 1800.0
Key = tuple[str, str]
"""Group and episode."""


@dataclass(frozen=True)
class Told:
    """When a state was reached first (the record's own time, in seconds), and the model's calls up to then."""

    at: float
    calls: int


async def follow(
    bootstrap: str, prefix: str, wanted: set[Key], within: float = WITHIN
) -> dict[Key, dict[str, Told]]:
    """Every state of every wanted episode, as soon as all are final. TimeoutError after `within` seconds."""
    topic = STATUS.named(prefix)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=bootstrap, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    await consumer.start()
    seen: dict[Key, dict[str, Told]] = {key: {} for key in wanted}
    left = set(wanted)
    try:
        consumer.assign([TopicPartition(topic, n) for n in await partitions_of(bootstrap, topic)])
        async with asyncio.timeout(within):
            while left:
                for records in (await consumer.getmany(timeout_ms=200)).values():
                    for record in records:
                        _note(seen, left, record.timestamp / 1000, orjson.loads(record.value))
    finally:
        await consumer.stop()
    return seen


def _note(seen: dict[Key, dict[str, Told]], left: set[Key], at: float, status: dict[str, object]) -> None:
    key = (str(status["group_id"]), str(status["episode_id"]))
    if key not in seen:
        return
    usage = status.get("usage")
    calls = int(usage.get("llm_calls", 0)) if isinstance(usage, dict) else 0
    state = str(status["state"])
    seen[key].setdefault(state, Told(at, calls))
    if state in FINAL:
        left.discard(key)
