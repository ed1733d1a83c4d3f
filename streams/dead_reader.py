"""Reads the dead letters, and sends them again."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from streams.agents.decoding import LOGGED_AT_HEADER, SEQUENCE_HEADER, sequence_of
from streams.agents.outbox import Sender
from streams.broker import partitions_of
from streams.topics import DEAD, EPISODES


@dataclass(frozen=True)
class DeadLetter:
    """One dead letter. `id` is its place in the dead letter topic ("partition-offset")."""

    id: str
    group_id: str
    key: bytes
    letter: dict[str, Any]
    headers: tuple[tuple[str, bytes], ...]

    @property
    def episode_id(self) -> str | None:
        """The episode's id as far as the original tells it."""
        event = self.letter.get("event")
        if not isinstance(event, dict):
            return None
        inner = event.get("episode", event)
        found = inner.get("id") or inner.get("episode_id") if isinstance(inner, dict) else None
        return str(found) if found is not None else None

    @property
    def value(self) -> bytes:
        """The original record's value as it was sent (JSON keeps its meaning, not its spacing)."""
        if "event_base64" in self.letter:
            return base64.b64decode(self.letter["event_base64"])
        return orjson.dumps(self.letter["event"])


async def read_dead_letters(
    bootstrap: str,
    prefix: str = "",
    *,
    group_id: str | None = None,
    stage: str | None = None,
    since: datetime | None = None,
) -> AsyncIterator[DeadLetter]:
    """All dead letters up to now, oldest first inside a group; filtered by group, stage and time of death.

    Raises KafkaError when the broker does not answer.
    """
    topic = DEAD.named(prefix)
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
                    found = _letter(record)
                    if record.offset < ends[tp] and _wanted(found, group_id, stage, since):
                        yield found
            left = {tp for tp in left if await consumer.position(tp) < ends[tp]}
    finally:
        await consumer.stop()


async def replay(letter: DeadLetter, sender: Sender) -> None:
    """Send the original again to the topic that it came from, so that it takes the turn that it would have had."""
    headers = dict(letter.headers)
    is_raw = str(letter.letter["topic"]).endswith(EPISODES.name)
    if is_raw and SEQUENCE_HEADER not in headers and "logged_at" in letter.letter:
        logged_at = datetime.fromisoformat(letter.letter["logged_at"])
        sequence = sequence_of(logged_at, int(letter.letter["offset"]))
        headers |= {SEQUENCE_HEADER: str(sequence).encode(), LOGGED_AT_HEADER: logged_at.isoformat().encode()}
    key = str(letter.letter["key"]).encode() if "key" in letter.letter else letter.key
    await sender.send(str(letter.letter["topic"]), key, letter.value, list(headers.items()))


def _letter(record: Any) -> DeadLetter:
    key = record.key or b""
    return DeadLetter(
        id=f"{record.partition}-{record.offset}",
        group_id=key.decode("utf-8", "replace"),
        key=key,
        letter=orjson.loads(record.value),
        headers=tuple((name, bytes(value or b"")) for name, value in record.headers or ()),
    )


def _wanted(letter: DeadLetter, group_id: str | None, stage: str | None, since: datetime | None) -> bool:
    return (
        (group_id is None or letter.group_id == group_id)
        and (stage is None or letter.letter["stage"] == stage)
        and (since is None or datetime.fromisoformat(letter.letter["at"]) >= since)
    )
