"""The digest of a graph file: equal when two files say the same, different when they do not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from factstream.memory import Memory
from pipeline.graph.digest import digest, summary
from pipeline.graph.sqlite.dump import SqliteDump
from tests.unit.memory.events import works_at


async def digest_of(path: Path) -> str:
    return digest(await SqliteDump(path).dump("g"))


async def test_a_history_gives_the_same_digest_one_by_one_and_in_a_batch(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    events = [works_at(n, one=True) for n in range(25)]
    one, batch, less = (tmp_path / f"{name}.db" for name in ("one", "batch", "less"))
    async with make(path=one) as memory:
        for event in events:
            await memory.add(event)
        await memory.rebuild_communities("g")
    async with make(path=batch) as memory:
        await memory.add_many(events)
        await memory.rebuild_communities("g")
        again = await digest_of(batch)
    async with make(path=less) as memory:
        await memory.add_many(events[:-1])
        await memory.rebuild_communities("g")
    assert await digest_of(one) == await digest_of(batch) == again
    assert await digest_of(less) != again
    dump = await SqliteDump(one).dump("g")
    assert len(dump.episodes) == len(dump.evidence) == 25
    assert len(dump.mentions) == 50
    assert dump.memberships
    assert summary(await SqliteDump(one).dump("other"))["facts"] == []
