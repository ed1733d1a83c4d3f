"""Questions to the brokers before work starts: do they answer, which topics are there."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from streams.errors import BrokerUnavailable, TopicsMissing
from streams.event import Partition
from streams.timing import Timing

LONGEST_PAUSE = 15.0
"""Seconds between two tries to reach a broker, at most."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def admin_client(bootstrap: str) -> AsyncIterator[AIOKafkaAdminClient]:
    """A connected admin client. Raises KafkaError when no broker answers."""
    admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        await admin.start()
        yield admin
    finally:
        await admin.close()


async def wait_for_broker(bootstrap: str, timing: Timing | None = None, limit: float | None = None) -> None:
    """Returns when a broker answers, saying now and then that it waits.

    `limit` in seconds; None waits for ever, so that a worker that starts before Kafka just starts later.
    Raises BrokerUnavailable after the limit.
    """
    timing = timing or Timing()
    started, pause = timing.monotonic(), 0.5
    while True:
        try:
            async with admin_client(bootstrap):
                return
        except (KafkaError, OSError) as error:
            waited = timing.monotonic() - started
            if limit is not None and waited + pause > limit:
                raise BrokerUnavailable(bootstrap, limit, repr(error)) from error
            log.warning("Kafka at %s does not answer yet (%.0f s): %r", bootstrap, waited, error)
        await timing.sleep(pause)
        pause = min(LONGEST_PAUSE, pause * 2)


async def require_topics(bootstrap: str, names: Iterable[str]) -> None:
    """Raises TopicsMissing for names that do not exist; creates none, not even by asking."""
    async with admin_client(bootstrap) as admin:
        missing = set(names) - set(await admin.list_topics())
    if missing:
        raise TopicsMissing(bootstrap, sorted(missing))


async def partitions_of(bootstrap: str, topic: str) -> list[int]:
    """The partition numbers of a topic; none when it does not exist. Raises KafkaError when no broker answers.

    A consumer cannot be asked: what it knows is limited to the topics that it has subscribed to.
    """
    async with admin_client(bootstrap) as admin:
        if topic not in await admin.list_topics():
            return []
        described = await admin.describe_topics([topic])
    return sorted(part["partition"] for part in described[0]["partitions"])


async def committed_notes(bootstrap: str, group: str) -> dict[Partition, tuple[int, str]]:
    """The committed positions of a consumer group with the note beside each. Raises KafkaError."""
    async with admin_client(bootstrap) as admin:
        found = await admin.list_consumer_group_offsets(group)
    return {
        Partition(tp.topic, tp.partition): (at.offset, at.metadata or "")
        for tp, at in found.items()
        if at.offset >= 0
    }
