"""A hot group on real Kafka: the others overtake it, and kills and rebalances lose nothing of it."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import defaultdict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.structs import OffsetAndMetadata

from streams.broker import committed_notes
from streams.delivery_settings import DeliverySettings
from streams.errors import StartError
from streams.event import Event, Partition
from streams.lane_app import LaneApp
from streams.lane_work import LaneWork
from streams.notes import read_note, tag_of
from streams.topics import EPISODES, STATUS
from tests.integration.streams.test_delivery import firsts

pytestmark = pytest.mark.integration

WORKER = Path(__file__).with_name("hot_worker.py")
ROOT = Path(__file__).parents[3]
HOT, SMALL = 600, 60
WITHIN = 240.0
"""Seconds: a killed worker is missed after 15, and a busy machine starts another one slowly."""


@asynccontextmanager
async def worker(installation: Any, seconds: float) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(WORKER), installation.bootstrap, installation.prefix, installation.group),
        str(seconds),
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def publish(installation: Any) -> None:
    """A hot group, then small ones behind it, all on one partition."""
    async with AIOKafkaProducer(bootstrap_servers=installation.bootstrap) as producer:
        for n in range(HOT + SMALL):
            key = b"hot" if n < HOT else b"small%d" % (n % 6)
            topic = EPISODES.named(installation.prefix)
            await producer.send(topic, orjson.dumps({"n": n}), key=key, partition=0)
        await producer.flush()


def numbers(records: list[Any]) -> dict[bytes, set[int]]:
    found: dict[bytes, set[int]] = defaultdict(set)
    for record in records:
        found[record.key].add(orjson.loads(record.value)["n"])
    return found


async def test_kills_while_a_group_is_aside_lose_nothing_and_the_others_come_first(installation: Any) -> None:
    await publish(installation)
    small = set(range(HOT, HOT + SMALL))
    place = Partition(EPISODES.named(installation.prefix), 0)

    def others(records: list[Any]) -> set[int]:
        return {n for key, some in numbers(records).items() if key != b"hot" for n in some}

    # Killed with the small ones done, and again and again with some of the hot one done.
    async with worker(installation, 0.03) as process:
        records = await installation.read(STATUS, lambda got: others(got) == small, WITHIN)
        assert len(numbers(records)[b"hot"]) < HOT / 2
        for _ in range(100):
            notes = await committed_notes(installation.bootstrap, installation.group)
            position, note = notes.get(place, (0, ""))
            if position == HOT + SMALL:
                break
            await asyncio.sleep(0.2)
        assert tag_of(b"hot") in read_note(note)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    for part in (0.3, 0.5):
        async with worker(installation, 0.01) as process:
            await installation.read(
                STATUS, lambda got, part=part: len(numbers(got)[b"hot"]) >= HOT * part, WITHIN
            )
            process.send_signal(signal.SIGKILL)
            await process.wait()
    assert await installation.uncommitted(EPISODES) > 0
    async with worker(installation, 0.01) as process, worker(installation, 0.01):
        everything = set(range(HOT + SMALL))
        records = await installation.read(
            STATUS, lambda got: set().union(*numbers(got).values()) == everything, WITHIN
        )
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 30) == 0
        for _ in range(150):
            if await installation.uncommitted(EPISODES) == 0:
                break
            await asyncio.sleep(0.2)
    for group, order in firsts(records).items():
        assert order == sorted(order), group
    position, note = (await committed_notes(installation.bootstrap, installation.group))[place]
    assert (position, note) == (HOT + SMALL, "")
    assert len(records) < 2 * len(everything)


async def test_a_worker_does_not_go_on_with_a_note_of_a_later_version(installation: Any) -> None:
    place = TopicPartition(EPISODES.named(installation.prefix), 0)
    async with AIOKafkaConsumer(
        bootstrap_servers=installation.bootstrap, group_id=installation.group, enable_auto_commit=False
    ) as consumer:
        consumer.assign([place])
        await consumer.commit({place: OffsetAndMetadata(0, '{"v": 2, "aside": {"a": 0}}')})
    app = LaneApp(DeliverySettings(installation.bootstrap, installation.group, installation.prefix))
    app.stage("copy", EPISODES, Nothing())
    with pytest.raises(StartError, match="version 2"):
        await asyncio.wait_for(app.serve(asyncio.Event()), WITHIN)


class Nothing(LaneWork[None, None]):
    """Takes every event and does nothing."""

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        """Done."""
