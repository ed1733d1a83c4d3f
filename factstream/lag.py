"""How far the stages are behind, as Kafka tells it."""

from __future__ import annotations

from dataclasses import dataclass, field

from aiokafka import AIOKafkaConsumer, TopicPartition
from aiokafka.errors import KafkaError
from aiokafka.structs import OffsetAndMetadata

from streams.broker import admin_client, partitions_of
from streams.notes import lowest
from streams.topics import CHANGES, DEAD, EPISODES, EXTRACTED, RESOLVED

STAGE_TOPICS = (EPISODES, EXTRACTED, RESOLVED, CHANGES)


@dataclass(frozen=True)
class Backlog:
    """Events that wait, by topic, and the number of dead letters ever written; or why Kafka could not be asked."""

    topics: dict[str, int] = field(default_factory=dict)
    dead_letters: int = 0
    unreachable: str = ""


async def backlog(bootstrap: str, prefix: str, group: str) -> Backlog:
    """Asks Kafka for the ends of all topics and for the group's committed positions.

    Where a group was set aside, everything from its first unfinished event on counts, done or not: at most so much.
    """
    consumer = AIOKafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
    try:
        await consumer.start()
        async with admin_client(bootstrap) as admin:
            committed = await admin.list_consumer_group_offsets(group)
        waiting: dict[str, int] = {}
        for topic in STAGE_TOPICS:
            ends = await _ends(bootstrap, consumer, topic.named(prefix))
            starts = await consumer.beginning_offsets(list(ends)) if ends else {}
            at = {tp: _lowest(committed[tp]) if tp in committed else starts[tp] for tp in ends}
            waiting[topic.name] = sum(max(0, end - max(at[tp], starts[tp])) for tp, end in ends.items())
        dead = await _ends(bootstrap, consumer, DEAD.named(prefix))
        return Backlog(waiting, sum(dead.values()))
    except (KafkaError, OSError) as error:
        return Backlog(unreachable=f"{bootstrap} does not answer: {error}")
    finally:
        await consumer.stop()


def _lowest(at: OffsetAndMetadata) -> int:
    return lowest(at.offset, at.metadata or "")


async def _ends(bootstrap: str, consumer: AIOKafkaConsumer, topic: str) -> dict[TopicPartition, int]:
    partitions = [TopicPartition(topic, p) for p in await partitions_of(bootstrap, topic)]
    if not partitions:
        return {}
    ends: dict[TopicPartition, int] = await consumer.end_offsets(partitions)
    return ends
