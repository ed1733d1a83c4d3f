"""1 → 3 → 1 workers during the load, with a model that takes longer than a poll interval for each answer."""

from __future__ import annotations

import asyncio
import random
from typing import Any

from streams.broker import admin_client
from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.integration.pipeline.waiting import until


async def members(made: Site, expected: int) -> bool:
    """Whether the consumer group is settled with so many workers."""
    async with admin_client(made.bootstrap) as admin:
        (answer,) = await admin.describe_consumer_groups([made.consumer_group])
    told = answer.groups[0]
    return told[2] == "Stable" and len(told[5]) == expected


async def test_workers_come_and_go_while_the_model_is_slow(
    scale: Scale, servers: Ground, expected: Any, report: Any
) -> None:
    wanted = await expected(scale.events)
    chance = random.Random(5)
    async with report("1 to 3 to 1 workers, slow model") as r, site(servers) as made:
        # Shorter than an answer takes: polling must not wait for the model.
        made.safe["broker_max_poll_interval"] = 4.0 if scale.full else 2.0
        made.model.latency = lambda _: chance.uniform(*scale.slow_model)
        groups = made.groups(scale.groups)
        parts = list(slices(histories(groups, scale.events), 5))
        async with made.worker() as first:
            await made.tell(parts[0])
            await until(lambda: members(made, 1))
            async with made.worker() as second:
                await made.tell(parts[1])
                async with made.worker() as third:
                    await until(lambda: members(made, 3))
                    await made.tell(parts[2])
                    await asyncio.sleep(scale.slow_model[0])
                    assert await first.stopped() == 0
                    await made.tell(parts[3])
                    await until(lambda: members(made, 2))
                    assert await third.stopped() == 0
                await until(lambda: members(made, 1))
                await made.tell(parts[4])
                await made.until_all_done()
                assert await second.stopped() == 0
        low, high = scale.slow_model
        r.rounds, r.faults, r.note = 5, 4, f"{low:.0f}-{high:.0f} s a call"
        await judged(r, made, groups, wanted)
