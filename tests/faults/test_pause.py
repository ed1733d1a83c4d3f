"""A worker that is frozen past its session time-out and wakes up believing that it still owns its groups."""

from __future__ import annotations

import asyncio
import random
import signal
from typing import Any

import psutil

from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.integration.pipeline.workers import WorkerProcess

# Where it is frozen: inside an open transaction that holds its lane, between what it has read and its commit, between
# its commit and what it sends on.
POINTS = [
    "transaction:resolve_facts",
    "commit_entities:before",
    "send:facts.changes:before",
    "commit_extraction:before",
    "transaction:extract",
    "settle:after",
]
TRANSACTION = 4.0
"""Seconds after which the database ends a transaction of a worker that says nothing."""


async def frozen(worker: WorkerProcess) -> bool:
    """Waits until it has frozen itself at its point, or freezes it where it is; True when it was the point."""
    try:
        async with asyncio.timeout(20.0):
            while not worker.frozen:
                await asyncio.sleep(0.05)
        return True
    except TimeoutError:
        worker.send(signal.SIGSTOP)
        return False


async def one_pause(made: Site, part: list[Any], point: str, chance: random.Random) -> bool:
    """While one worker is frozen the other does all of its work; then the first wakes up, and more comes."""
    crash = {"point": point, "occurrence": chance.randint(1, 3), "signal": int(signal.SIGSTOP)}
    early, late = part[: len(part) * 2 // 3], part[len(part) * 2 // 3 :]
    async with made.worker(crash) as sleeper:
        await made.tell(early)
        at_point = await frozen(sleeper)
        try:
            async with made.worker() as other:
                # Unaided: nobody wakes the sleeper for it.
                await made.until_all_done()
                sleeper.send(signal.SIGCONT)
                await made.tell(late)
                await made.until_all_done()
                assert sleeper.exit_code is None, f"the woken worker has ended; see {made.log}"
                assert await sleeper.stopped() == 0
                assert await other.stopped() == 0
        finally:
            if sleeper.exit_code is None and psutil.pid_exists(sleeper.pid):
                sleeper.send(signal.SIGCONT)
    return at_point


async def test_a_worker_that_sleeps_through_its_session(
    scale: Scale, servers: Ground, expected: Any, report: Any
) -> None:
    wanted = await expected(scale.events)
    async with report("worker frozen past its session") as r, site(servers) as made:
        made.transaction_seconds = TRANSACTION
        groups, chance = made.groups(scale.groups), random.Random(7)
        parts = list(slices(histories(groups, scale.events), scale.pauses))
        at_point = 0
        for number, part in enumerate(parts):
            at_point += await one_pause(made, part, POINTS[number % len(POINTS)], chance)
        r.rounds = r.faults = len(parts)
        r.note = f"{at_point} at a marked point"
        await judged(r, made, groups, wanted)
