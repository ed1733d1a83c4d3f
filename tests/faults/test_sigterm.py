"""SIGTERM in the middle of the load, to `factstream worker` itself: what runs is finished or given back in time."""

from __future__ import annotations

import asyncio
import os
import re
import sys
import time
from asyncio.subprocess import PIPE, Process
from typing import Any

from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.model_server import Hang

GRACE = 4.0
REST = 40.0
"""Seconds that leaving the group, the producer and the pools may take on top of the grace time on a busy machine; the
model hangs for much longer."""
SAID = re.compile(
    r"stopped: (\d+) running events finished, (\d+) given back to be read again( \((\d+) were cut off)?"
)


async def command_line_worker(made: Site) -> Process:
    """`factstream worker` as an operator starts it."""
    settings = made.worker_settings() | {"grace": GRACE, "worker_port": 0}
    named = {f"FACTSTREAM_{name.upper()}": str(value) for name, value in settings.items()}
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "factstream", "worker"), env={**os.environ, **named}, stderr=PIPE
    )


async def terminated(worker: Process) -> tuple[int, int, int]:
    """Sends SIGTERM; the numbers that the worker says at its end: finished, given back, cut off."""
    started = time.monotonic()
    worker.terminate()
    async with asyncio.timeout(GRACE + REST + 30):
        _, said = await worker.communicate()
    text = said.decode()
    assert worker.returncode == 0, text[-3000:]
    assert time.monotonic() - started < GRACE + REST, text[-3000:]
    found = SAID.search(text)
    assert found is not None, text[-3000:]
    return int(found[1]), int(found[2]), int(found[4] or 0)


async def test_sigterm_in_the_middle(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    wanted = await expected(scale.events)
    rounds = 2 * scale.pauses
    async with report("SIGTERM in the middle") as r, site(servers) as made:
        groups = made.groups(scale.groups)
        finished = given_back = cut = 0
        for number, part in enumerate(slices(histories(groups, scale.events), rounds)):
            # Every second time the model hangs, so that there is work that no grace time is long enough for.
            made.model.clear()
            if number % 2:
                made.model.on(Hang(300.0), purpose="extract")
            done = await made.done()
            worker = await command_line_worker(made)
            await made.tell(part)
            if number % 2:
                async with asyncio.timeout(60):
                    while not made.model.chats:
                        await asyncio.sleep(0.1)
            else:
                await made.some_done(done + 1)
            numbers = await terminated(worker)
            finished, given_back, cut = finished + numbers[0], given_back + numbers[1], cut + numbers[2]
        made.model.clear()
        async with made.worker() as last:
            await made.until_all_done()
            assert await last.stopped() == 0
        r.rounds = r.faults = rounds
        r.note = f"{finished} running events finished, {given_back} given back"
        assert given_back, "no work was running"
        await judged(r, made, groups, wanted)
