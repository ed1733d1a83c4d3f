"""kill -9 of a worker, again and again while episodes come in: at random moments, and at every marked point."""

from __future__ import annotations

import asyncio
import random
import signal
from typing import Any

from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.report import Report
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.integration.pipeline.crash_points import CRASHES

TRANSACTIONS = ["extract", "resolve_entities", "resolve_facts", "update_communities"]
POINTS = [point for _, point, _ in CRASHES] + [f"transaction:{stage}" for stage in TRANSACTIONS]
LONGEST_LIFE = 8.0
"""Seconds; a worker that does not reach its point by then is killed all the same."""


async def kill_rounds(made: Site, groups: list[str], rounds: int, events: int, first: int) -> int:
    """Each round: a slice of every group's history, and a worker that is killed. The number that died at a point."""
    chance = random.Random(first)
    at_point = 0
    for number, part in enumerate(slices(histories(groups, events), rounds), first):
        await made.tell(part)
        marked = number % 2 == 0
        crash: dict[str, Any] | None = None
        if marked:
            crash = {"point": POINTS[number // 2 % len(POINTS)], "occurrence": chance.randint(1, 3)}
        async with made.worker(crash) as worker:
            try:
                async with asyncio.timeout(LONGEST_LIFE if marked else chance.uniform(0.2, 5.0)):
                    while worker.exit_code is None:
                        await asyncio.sleep(0.05)
            except TimeoutError:
                assert await worker.killed() == -signal.SIGKILL
            else:
                at_point += 1
            assert worker.exit_code == -signal.SIGKILL, f"a worker ended by itself; see {made.log}"
    async with made.worker() as last:
        await made.until_all_done()
        assert await last.stopped() == 0
    return at_point


async def test_killed_workers(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    rounds = scale.kill_rounds // scale.kill_sites
    events = max(scale.events, rounds)
    wanted = await expected(events)

    async def one(number: int) -> tuple[Site, list[str], int]:
        async with site(servers) as made:
            groups = made.groups(3)
            died = await kill_rounds(made, groups, rounds, events, number * rounds)
            await judged(found[number], made, groups, wanted)
            return made, groups, died

    found = [Report(f"site {n}") for n in range(scale.kill_sites)]
    async with report("worker killed with SIGKILL") as all_of_it:
        told = await asyncio.gather(*map(one, range(scale.kill_sites)))
        died = sum(at_point for _, _, at_point in told)
        all_of_it.rounds = all_of_it.faults = rounds * scale.kill_sites
        all_of_it.note = f"{died} of them at a marked point"
        for part in found:
            all_of_it.add(part)
