"""Kafka restarted, killed, gone, frozen; the leader of the topics moved to another broker."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from streams.broker import admin_client
from streams.topics import EPISODES
from tests.faults.ground import Ground, ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.faults.undisturbed import undisturbed
from tests.integration.pipeline.waiting import until


async def test_kafka_restarted_killed_and_gone(
    scale: Scale, servers: Ground, expected: Any, report: Any
) -> None:
    """The gateway refuses what it cannot have confirmed, producers send again, and workers go on by themselves."""
    wanted = await expected(scale.events)
    async with report("Kafka restarted, killed, gone") as r, site(servers) as made, made.worker() as worker:
        groups = made.groups(scale.groups)
        parts = list(slices(histories(groups, scale.events), 4))
        await made.tell(parts[0])
        await made.some_done(1)
        await servers.stop("kafka")
        await servers.start("kafka")
        await made.tell(parts[1])
        await asyncio.sleep(1.0)
        await servers.kill("kafka")
        telling = asyncio.create_task(made.tell(parts[2]))
        await asyncio.sleep(scale.outage)
        made.check_workers()
        assert not telling.done(), "nobody can have confirmed this"
        # Without a broker a worker stops all the same, and another starts and waits.
        async with made.worker() as successor:
            assert await worker.stopped() == 0
            await servers.start("kafka")
            await telling
            await made.tell(parts[3])
            await made.until_all_done()
            assert await successor.stopped() == 0
        r.rounds, r.faults = 2, 3
        r.note = f"gone for {scale.outage:.0f} s, {made.refused} times 503, a worker stopped meanwhile"
        await judged(r, made, groups, wanted)


async def leaders(made: Site) -> list[int]:
    """Which broker leads each partition of `episodes`."""
    async with admin_client(made.bootstrap) as admin:
        (topic,) = await admin.describe_topics([EPISODES.named(made.prefix)])
    return [int(part["leader"]) for part in sorted(topic["partitions"], key=lambda p: p["partition"])]


@pytest.mark.whole_run
async def test_leaders_move_among_three_brokers(report: Any, scale: Scale) -> None:
    """Each broker in turn is killed or stopped, so that the others take its partitions, and comes back."""
    with ground(nodes=3) as servers:
        wanted = await undisturbed(servers, scale.events)
        async with (
            report("leaders moved, three brokers") as r,
            site(servers, replication=3) as made,
            made.worker() as worker,
        ):
            groups = made.groups(scale.groups)
            parts = list(slices(histories(groups, scale.events), 4))
            await made.tell(parts[0])
            await made.some_done(1)
            for number, part in enumerate(parts[1:]):
                led = await leaders(made)
                broker = led[number % len(led)]
                await (servers.kill if number % 2 else servers.stop)(f"kafka-{broker}")
                await made.tell(part)

                async def moved(before: int = broker) -> bool:
                    return all(leader not in (before, -1) for leader in await leaders(made))

                await until(moved)
                await servers.start(f"kafka-{broker}")
                r.rounds, r.faults = r.rounds + 1, r.faults + 1
            await made.until_all_done()
            assert await worker.stopped() == 0
            await judged(r, made, groups, wanted)
