"""One record of a topic, as a stage sees it: bytes, undecoded."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from streams.topics import lane_key


class Partition(NamedTuple):
    """A partition of a topic."""

    topic: str
    number: int


@dataclass(frozen=True, slots=True)
class Event:
    """A record with its position. Keys and values stay bytes: what does not decode is a stage's Poison, not a loss.

    `timestamp` is Kafka's, in UTC. `generation` is the consumer group's when the record was read.
    A `value` of None is a tombstone.
    """

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    timestamp: datetime
    headers: tuple[tuple[str, bytes], ...] = ()
    generation: int = 0

    @property
    def source(self) -> Partition:
        """The partition that it came from."""
        return Partition(self.topic, self.partition)

    @property
    def lane(self) -> bytes:
        """The group that it belongs to, as in its key; empty without a key."""
        return lane_key(self.key)

    @property
    def place(self) -> str:
        """Where to find it: topic/partition/offset."""
        return f"{self.topic}/{self.partition}/{self.offset}"

    def header(self, name: str) -> bytes | None:
        """The last header of that name, or None."""
        return next((value for key, value in reversed(self.headers) if key == name), None)

    @classmethod
    def from_message(cls, message: Any) -> Event:
        """From a Faust message whose topic is declared raw; its timestamp is in seconds."""
        return cls(
            topic=message.topic,
            partition=message.partition,
            offset=message.offset,
            key=message.key,
            value=message.value,
            timestamp=datetime.fromtimestamp(message.timestamp or 0.0, UTC),
            headers=tuple((name, bytes(value or b"")) for name, value in message.headers or ()),
            generation=message.generation_id,
        )

    @classmethod
    def from_record(cls, record: Any, generation: int = 0) -> Event:
        """From a record of aiokafka's own consumer; its timestamp is in milliseconds."""
        return cls(
            topic=record.topic,
            partition=record.partition,
            offset=record.offset,
            key=record.key,
            value=record.value,
            timestamp=datetime.fromtimestamp((record.timestamp or 0) / 1000, UTC),
            headers=tuple((name, bytes(value or b"")) for name, value in record.headers or ()),
            generation=generation,
        )
