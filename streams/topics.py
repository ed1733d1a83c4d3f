"""Every topic, declared once.

All topics have the same number of partitions and put a record on the partition of its group, so a group has the same
partition number everywhere and one worker holds it in every stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from aiokafka.partitioner import DefaultPartitioner

MIB = 1024 * 1024
DAY_MS = 24 * 60 * 60 * 1000
FOREVER = -1

SEPARATOR = b"\0"
"""Between group and episode in a key. A group id has no control characters, so the first one ends it."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic's declaration. `retention_ms` counts for cleanup `delete`; `max_bytes` bounds one record batch."""

    name: str
    key: str
    meaning: str
    cleanup: Literal["delete", "compact"] = "delete"
    retention_ms: int = FOREVER
    max_bytes: int = MIB
    append_time: bool = False

    def named(self, prefix: str = "") -> str:
        """Its name in a cluster, where `prefix` sets installations apart ("staging.")."""
        return prefix + self.name

    def settings(self) -> dict[str, str]:
        """Kafka's own settings for it; those that `ensure_topics` creates and checks."""
        return {
            "cleanup.policy": self.cleanup,
            "retention.ms": str(self.retention_ms),
            "retention.bytes": "-1",
            "max.message.bytes": str(self.max_bytes),
            "message.timestamp.type": "LogAppendTime" if self.append_time else "CreateTime",
        }


EPISODES = Topic(
    "episodes",
    key="group_id",
    meaning="raw episodes as producers sent them: the truth that everything else can be rebuilt from",
    max_bytes=4 * MIB,
    append_time=True,
)
EXTRACTED = Topic(
    "episodes.extracted",
    key="group_id NUL episode_id",
    meaning="what the model said about an episode; the last one of each is kept, so a rebuild pays no token",
    cleanup="compact",
    max_bytes=4 * MIB,
)
RESOLVED = Topic(
    "episodes.resolved",
    key="group_id NUL episode_id",
    meaning="an extraction whose mentions have become entities",
    cleanup="compact",
    max_bytes=4 * MIB,
)
JUDGED = Topic(
    "episodes.judged",
    key="group_id NUL episode_id NUL stage",
    meaning="what a judge was asked about an episode and answered, so that a rebuild merges and closes the same",
    cleanup="compact",
    max_bytes=4 * MIB,
)
STATUS = Topic(
    "episodes.status",
    key="group_id",
    meaning="how far each episode has come and what it cost",
    retention_ms=30 * DAY_MS,
)
CHANGES = Topic(
    "facts.changes",
    key="group_id",
    meaning="one event per change of belief; folded from the beginning they give the current facts",
    max_bytes=4 * MIB,
)
DEAD = Topic(
    "episodes.dead",
    key="group_id",
    meaning="events that no attempt could finish, untouched, with the reason",
    max_bytes=8 * MIB,
)
JUDGING_STAGES = ("resolve_entities", "resolve_facts")
"""The stages that ask a judge."""
DEAD_SETTLED = Topic(
    "episodes.dead.settled",
    key="group_id NUL id of the dead letter",
    meaning="which dead letters were replayed or dropped, and when; the last of each is kept",
    cleanup="compact",
)
ALL_TOPICS = (EPISODES, EXTRACTED, RESOLVED, JUDGED, STATUS, CHANGES, DEAD, DEAD_SETTLED)


def stage_key(group_id: str, episode_id: str) -> bytes:
    """The key of a compacted topic between the stages."""
    return group_id.encode() + SEPARATOR + episode_id.encode()


def judged_key(group_id: str, episode_id: str, stage: str) -> bytes:
    """The key of a judge's record. No stage has a NUL in its name, so the last one parts it from the episode."""
    return stage_key(group_id, episode_id) + SEPARATOR + stage.encode()


def lane_key(key: bytes | None) -> bytes:
    """The group's part of a record's key, the same for every topic; empty without a key."""
    return (key or b"").split(SEPARATOR, 1)[0]


def group_partition(key: bytes | None, partitions: Sequence[int], available: Sequence[int]) -> int:
    """A partitioner for aiokafka: Kafka's own (murmur2), over the group's part of the key only.

    A producer of another language with the default partitioner and the key `group_id` chooses the same partition.
    """
    chosen: int = DefaultPartitioner()(None if key is None else lane_key(key), partitions, available)
    return chosen


def partition_of(group_id: str, partitions: int) -> int:
    """The partition number of a group, in every topic."""
    numbers = range(partitions)
    return group_partition(group_id.encode(), numbers, numbers)
