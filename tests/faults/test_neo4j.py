"""Neo4j restarted, killed, gone, frozen, slow, out of disk, in a deadlock, without a leader."""

from __future__ import annotations

import asyncio
import itertools
import uuid
from pathlib import Path
from typing import Any

from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import histories, slices
from tests.faults.scale import Scale
from tests.faults.site import site
from tests.wire import wire_to

ERRORS = {
    "deadlock": ["Neo.TransientError.Transaction.DeadlockDetected"],
    "change of leader": [
        "Neo.ClientError.Cluster.NotALeader",
        "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase",
        "Neo.TransientError.General.DatabaseUnavailable",
        "Neo.TransientError.Transaction.LeaseExpired",
    ],
    # What Neo4j 2026 answered on a full disk (a small tmpfs): the first at the commit that found no room, the second to
    # everything afterwards, until it was started again.
    "disk full": [
        "Neo.DatabaseError.Transaction.TransactionLogError",
        "Neo.DatabaseError.Transaction.TransactionStartFailed",
    ],
    "out of memory": [
        "Neo.TransientError.General.TransactionOutOfMemoryError",
        "Neo.TransientError.General.MemoryPoolOutOfMemoryError",
    ],
}

PLACES = {"commit": 2, "committed": 2, "statement": 23}
"""Where they happen, and at which call again; a commit has fewer statements than that, or none would get through."""


async def test_neo4j_restarted_killed_and_gone(
    scale: Scale, servers: Ground, expected: Any, report: Any
) -> None:
    wanted = await expected(scale.events)
    async with report("Neo4j restarted, killed, gone") as r, site(servers) as made, made.worker() as worker:
        groups = made.groups(scale.groups)
        parts = list(slices(histories(groups, scale.events), 4))
        await made.tell(parts[0])
        await made.some_done(1)
        await servers.stop("neo4j")
        await servers.start("neo4j")
        await made.tell(parts[1])
        await asyncio.sleep(1.0)
        await servers.kill("neo4j")
        await made.tell(parts[2])
        await asyncio.sleep(scale.outage)
        made.check_workers()
        await servers.start("neo4j")
        await made.tell(parts[3])
        await made.until_all_done()
        assert await worker.stopped() == 0
        r.rounds, r.faults, r.note = 2, 2, f"gone for {scale.outage:.0f} s"
        await judged(r, made, groups, wanted)


async def test_neo4j_slow_and_frozen(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    """Answers that take a quarter of a second on each way, wires that break, a server that says nothing for a while."""
    wanted = await expected(scale.events)
    async with wire_to(servers.bolt) as wire, report("Neo4j slow, cut off, frozen") as r:
        wire.delay = 0.25
        async with (
            site(servers, bolt=f"bolt://127.0.0.1:{wire.port}") as made,
            made.worker() as worker,
        ):
            groups = made.groups(scale.groups)
            parts = list(slices(histories(groups, scale.events), 3))
            await made.tell(parts[0])
            await made.some_done(2)
            wire.cut()
            wire.delay = 0.05
            await made.tell(parts[1])
            await asyncio.sleep(1.0)
            await asyncio.to_thread(servers.stack.pause, "neo4j")
            await asyncio.sleep(scale.outage / 4)
            await asyncio.to_thread(servers.stack.resume, "neo4j")
            wire.cut()
            await made.tell(parts[2])
            await made.until_all_done()
            assert await worker.stopped() == 0
            r.rounds, r.faults = 3, 4
            await judged(r, made, groups, wanted)


async def test_neo4j_answers_with_errors(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    """At statements, at commits that do not happen, and at commits that do while nobody is told."""
    every = list(itertools.product(ERRORS, PLACES))
    rounds = every if scale.full else list(zip(ERRORS, itertools.cycle(PLACES), strict=False))
    # Two of each group for a round: one may be the record that becomes a dead letter and writes nothing to the graph.
    events = max(scale.events, 2 * len(rounds))
    wanted = await expected(events)
    async with report(f"Neo4j: {', '.join(ERRORS)}") as r, site(servers) as made:
        groups = made.groups(scale.groups)
        for (kind, place), part in zip(rounds, slices(histories(groups, events), len(rounds)), strict=True):
            noted = Path(servers.folder) / uuid.uuid4().hex
            made.suffers = {
                "codes": ERRORS[kind],
                "place": place,
                "every": PLACES[place],
                "noted": str(noted),
            }
            async with made.worker() as worker:
                await made.tell(part)
                await made.until_all_done()
                assert await worker.stopped() == 0
            assert noted.exists(), f"no {kind} at a {place}: the round had nothing to do"
            r.faults += len(noted.read_text().splitlines())
            r.rounds += 1
        await judged(r, made, groups, wanted)
