"""kill -9, and one writer beside readers. Processes are forked from one that has everything imported."""

from __future__ import annotations

import multiprocessing
import os
import random
import time
from multiprocessing.context import ForkServerContext
from pathlib import Path

import pytest

from factstream.memory import Memory
from factstream.memory.inbox import Inbox
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.model.episode import EpisodeState
from pipeline.observer import SilentObserver
from tests.unit.memory import writer
from tests.unit.memory.events import works_at

KILLS = int(os.environ.get("KILLS", "10"))
PATIENCE = 120.0


@pytest.fixture(scope="module")
def fork() -> ForkServerContext:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.unit.memory.writer", "factstream.compose"])
    return context


def killed_once(fork: ForkServerContext, path: Path, first: int, chance: random.Random) -> int:
    """Lets a process write, and kills it after a random number of answers and a random moment; how far it had come."""
    ours, theirs = fork.Pipe()
    process = fork.Process(target=writer.write, args=(str(path), first, theirs), daemon=True)
    process.start()
    theirs.close()
    acknowledged = first
    for _ in range(chance.randint(1, 12)):
        assert ours.poll(PATIENCE), "the writer answers nothing"
        acknowledged = ours.recv()
    # Not a wait for something: the moment of the kill is what varies.
    time.sleep(chance.random() * 0.03)
    process.kill()
    process.join(PATIENCE)
    try:
        while ours.poll():
            acknowledged = ours.recv()
    except EOFError:
        pass
    ours.close()
    return acknowledged


async def test_nothing_acknowledged_is_lost_and_nothing_is_there_twice(
    fork: ForkServerContext, file: Path
) -> None:
    chance = random.Random(8)
    acknowledged = 0
    for _ in range(KILLS):
        acknowledged = killed_once(fork, file, acknowledged, chance)
    assert acknowledged >= KILLS

    async with writer.memory_of(str(file)) as memory:
        await memory.drain()
        await check_everything(memory, file, acknowledged)
    inbox = Inbox(file, SilentObserver())
    await inbox.open()
    assert await inbox.waiting(-1, 10) == []
    assert await inbox.dead() == []
    await inbox.close()


async def check_everything(memory: Memory, file: Path, acknowledged: int) -> None:
    listing = SqliteListing(file)
    await listing.open()
    episodes = [stored for _, stored in await listing.episodes("g", limit=1_000_000)]
    facts = [fact for _, fact in await listing.facts("g", limit=1_000_000)]
    await listing.close()
    ids = [stored.episode.id for stored in episodes]
    # Beyond the last answer, one request may have been kept without its answer having arrived.
    assert len(ids) == len(set(ids))
    assert {f"e{n}" for n in range(acknowledged)} <= set(ids)
    assert len(ids) <= acknowledged + 5
    assert {stored.state for stored in episodes} == {EpisodeState.committed}
    supported = [[s.episode_id for s in fact.support if s.known_to is None] for fact in facts]
    assert sorted(map(tuple, supported)) == sorted((one,) for one in ids)
    order = [s.episode.id for s in sorted(episodes, key=lambda s: s.episode.sequence)]
    assert order == [f"e{n}" for n in range(len(ids))]
    for person in range(3):
        told = await memory.facts("g", f"P{person}")
        assert [f.target.name for f in told] == [f"C{n}" for n in range(person, len(ids), 3)]
        assert [f.invalid_at is None for f in told] == [False] * (len(told) - 1) + [True]


async def test_one_process_writes_and_others_read(fork: ForkServerContext, file: Path) -> None:
    async with writer.memory_of(str(file)) as memory:
        await memory.add(works_at(0))
        readers = []
        for _ in range(2):
            ours, theirs = fork.Pipe()
            process = fork.Process(target=writer.read, args=(str(file), theirs), daemon=True)
            process.start()
            readers.append((process, ours))
        for _, pipe in readers:
            assert pipe.poll(PATIENCE)
            assert pipe.recv() == 2
        for number in range(1, 6):
            await memory.add(works_at(number))
            for _, pipe in readers:
                pipe.send(True)
                assert pipe.poll(PATIENCE)
                assert pipe.recv() == (number + 1, number + 1)
        for process, pipe in readers:
            pipe.send(False)
            process.join(PATIENCE)
            assert process.exitcode == 0
