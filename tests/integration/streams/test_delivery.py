"""Delivery through real Kafka: everything done or dead, nothing lost, order kept, whatever dies in between."""

from __future__ import annotations

import asyncio
import itertools
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
from aiokafka import AIOKafkaProducer

from pipeline.errors import Poison
from streams.delivery_settings import DeliverySettings
from streams.errors import TopicsMissing
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.prometheus_observer import PrometheusObserver
from streams.topics import DEAD, EPISODES, STATUS

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
WORKER = Path(__file__).with_name("worker_process.py")


class Sift(LaneWork[int, int]):
    """Records what it handles; every 20th number is poison, every 30th plus one fails for ever."""

    def __init__(self) -> None:
        self.handled: dict[str, list[int]] = defaultdict(list)
        self.dead: list[bytes | None] = []

    async def admit(self, event: Event) -> int:
        try:
            body = orjson.loads(event.value or b"")
        except orjson.JSONDecodeError as error:
            raise Poison("not JSON") from error
        if body["n"] % 20 == 0:
            raise Poison("twentieth", "n")
        return int(body["n"])

    async def prepare(self, event: Event, admitted: int) -> int:
        await asyncio.sleep(0.05 if admitted % 3 else 0.0)
        return admitted

    async def handle(self, event: Event, admitted: int, prepared: int) -> None:
        if prepared % 30 == 1:
            raise ValueError("always")
        self.handled[event.lane.decode()].append(prepared)

    async def on_dead(self, event: Event, failure: Any) -> None:
        self.dead.append(event.value)


@asynccontextmanager
async def serving(app: LaneApp) -> AsyncIterator[None]:
    stop = asyncio.Event()
    task = asyncio.ensure_future(app.serve(stop))
    try:
        yield
    finally:
        stop.set()
        await task


async def fill(installation: Any, events: int, groups: int) -> None:
    for n in range(events):
        await installation.send(EPISODES, f"g{n % groups}".encode(), orjson.dumps({"n": n}))


async def test_all_are_done_or_dead_in_order_and_committed(installation, wait_for):
    await fill(installation, 200, 20)
    odd: list[tuple[bytes | None, bytes | None]] = [
        (b"g0", b"\xff{"),
        (b"g1", None),
        (None, b"[]x"),
        (b"", b""),
    ]
    for key, value in odd:
        await installation.send(EPISODES, key, value)
    work, observer = Sift(), PrometheusObserver()
    settings = DeliverySettings(
        installation.bootstrap, installation.group, installation.prefix, report_every=0.2
    )
    app = LaneApp(settings, observer=observer)
    app.stage("sift", EPISODES, work, LanePolicy(attempts=2, first_pause=0.01, longest_pause=0.02))
    bad = {n for n in range(200) if n % 20 == 0 or n % 30 == 1}
    async with serving(app):
        letters = await installation.read(DEAD, lambda got: len(got) >= len(bad) + len(odd))
        lag = {"topic": EPISODES.named(installation.prefix), "partition": "0"}
        await wait_for(lambda: sum(map(len, work.handled.values())) + len(work.dead) == 204)
        await wait_for(lambda: observer.registry.get_sample_value("factstream_lag_events", lag) == 0)
    for group, numbers in work.handled.items():
        assert numbers == [n for n in range(200) if f"g{n % 20}" == group and n not in bad]
    assert sum(map(len, work.handled.values())) == 200 - len(bad)
    bodies = [orjson.loads(letter.value) for letter in letters]
    assert {b["event"]["n"] for b in bodies if b.get("event")} == bad
    assert sum("event_base64" in b for b in bodies) == 3
    assert {b["stage"] for b in bodies} == {"sift"}
    assert {b["attempts"] for b in bodies if b.get("event") and b["event"]["n"] % 20} == {2}
    assert await installation.uncommitted(EPISODES) == 0


async def test_gaps_in_the_offsets_hold_up_no_commit(installation, wait_for):
    topic, work = EPISODES.named(installation.prefix), Sift()
    settings = DeliverySettings(installation.bootstrap, installation.group, installation.prefix)
    app = LaneApp(settings)
    app.stage("sift", EPISODES, work)
    async with AIOKafkaProducer(
        bootstrap_servers=installation.bootstrap, transactional_id=installation.prefix
    ) as producer:
        for n in range(2, 20):
            # the marker that ends each transaction takes an offset that nobody ever reads
            async with producer.transaction():
                await producer.send_and_wait(topic, orjson.dumps({"n": n}), key=b"g", partition=1)
    async with serving(app):
        await wait_for(lambda: len(work.handled["g"]) == 18)
    assert work.handled["g"] == list(range(2, 20))
    assert await installation.uncommitted(EPISODES) == 1


async def test_a_worker_does_not_start_without_its_topics(kafka_bootstrap):
    app = LaneApp(DeliverySettings(kafka_bootstrap, "nobody", "no.such.prefix."))
    app.stage("sift", EPISODES, Sift())
    with pytest.raises(TopicsMissing, match=r"no\.such\.prefix\.episodes"):
        await app.serve(asyncio.Event())


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


def firsts(records: list[Any]) -> dict[bytes, list[int]]:
    """Per group, the numbers in the order in which they came out first."""
    seen: dict[bytes, list[int]] = defaultdict(list)
    for record in records:
        n = orjson.loads(record.value)["n"]
        if n not in seen[record.key]:
            seen[record.key].append(n)
    return seen


async def test_kill_in_the_middle_then_a_rebalance_then_a_clean_stop_lose_nothing(installation):
    numbers = itertools.count()

    async def send(amount: int) -> None:
        for n in itertools.islice(numbers, amount):
            await installation.send(EPISODES, f"g{n % 20}".encode(), orjson.dumps({"n": n}))

    def comes_from(records: list[Any], process: asyncio.subprocess.Process) -> bool:
        return any(("pid", b"%d" % process.pid) in record.headers for record in records)

    await send(200)
    async with worker(installation, 0.4) as first:
        await installation.read(STATUS, lambda got: len(got) >= 40)
        first.send_signal(signal.SIGKILL)
        await first.wait()
    async with worker(installation, 0.4) as second:
        await installation.read(STATUS, lambda got: comes_from(got, second))
        async with worker(installation, 0.4) as third:
            records: list[Any] = []
            while not comes_from(records, third):
                await send(20)
                known = len(records)
                records = await installation.read(STATUS, lambda got, known=known: len(got) > known)
            await send(50)
            second.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(second.wait(), 30) == 0
            everything = set(range(next(numbers)))
            records = await installation.read(
                STATUS, lambda got: {orjson.loads(r.value)["n"] for r in got} == everything
            )
            third.send_signal(signal.SIGTERM)
            assert await asyncio.wait_for(third.wait(), 30) == 0
    for group, order in firsts(records).items():
        assert order == sorted(order), group
    assert len(records) < 2 * len(everything)
    assert await installation.uncommitted(EPISODES) == 0
