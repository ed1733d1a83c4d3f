"""What a stop leaves behind is finished at the next start, wherever it fell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import Memory
from factstream.memory.inbox import Inbox
from pipeline.errors import Retryable
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import EpisodeState
from pipeline.observer import SilentObserver
from streams.gateway.intake import Record
from tests.unit.memory.conftest import QUICK
from tests.unit.memory.events import works_at

COMMITS = (
    "receive",
    "commit_extraction",
    "entity_view",
    "commit_entities",
    "fact_graph",
    "commit_facts",
    "settle",
    "community_graph",
    "commit_communities",
)


def stop_at(monkeypatch: pytest.MonkeyPatch, operation: str, *, after: bool) -> asyncio.Event:
    """Lets the store hang for ever before or after its third call of an operation; set when it does."""
    reached = asyncio.Event()
    original = getattr(SqliteGraphStore, operation)
    calls = 0

    async def hanging(self: Any, *args: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls < 3:
            return await original(self, *args)
        answer = await original(self, *args) if after else None
        reached.set()
        await asyncio.Event().wait()
        return answer

    monkeypatch.setattr(SqliteGraphStore, operation, hanging)
    return reached


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("operation", COMMITS)
async def test_a_stop_at_any_step_changes_nothing_in_the_end(
    make: Callable[..., Memory], monkeypatch: pytest.MonkeyPatch, operation: str, after: bool
) -> None:
    # One by one, so that every operation is called three times.
    events = [works_at(n, subject="Ana", one=True) for n in range(4)]
    with monkeypatch.context() as patched:
        reached = stop_at(patched, operation, after=after)
        memory = make()
        await memory.open()

        async def add_all() -> None:
            for event in events:
                await memory.add(event)

        adding = asyncio.create_task(add_all())
        async with asyncio.timeout(30):
            await reached.wait()
        await memory.close()
        with pytest.raises(Retryable):
            await adding
    async with make() as memory:
        await memory.drain()
        await memory.add_many(events)
        facts = await memory.facts("g")
        assert [(f.target.name, f.episodes) for f in facts] == [(f"C{n}", (f"e{n}",)) for n in range(4)]
        assert [f.invalid_at is None for f in facts] == [False, False, False, True]
        for number in range(4):
            episode = await memory.episode("g", f"e{number}")
            assert episode is not None
            assert episode.state is EpisodeState.committed
            assert len(episode.facts) == 1
        communities = (await memory.search("Ana", group_ids="g", scopes=["communities"])).communities
        ids = {e.id for e in await memory.entities("g") if e.name in ("Ana", "C3")}
        assert [ids <= set(c.members) for c in communities] == [True]


async def test_the_inbox_is_empty_when_all_is_done(make: Callable[..., Memory], file: Path) -> None:
    async with make() as memory:
        await memory.add_many([works_at(n) for n in range(10)])
    inbox = Inbox(file, SilentObserver())
    await inbox.open()
    assert await inbox.waiting(-1, 100) == []
    await inbox.close()


async def test_numbers_grow_over_restarts_and_when_the_clock_is_set_back(
    make: Callable[..., Memory], file: Path
) -> None:
    async with make():
        pass
    now = datetime(2024, 1, 1, tzinfo=UTC)
    seen: list[int] = []
    for at in (now, now + timedelta(days=1), now - timedelta(days=300), now):
        inbox = Inbox(file, SilentObserver())
        await inbox.open()
        seen += await inbox.append([Record(f"e{n}", "g", b"{}") for n in range(3)], at)
        for number in seen:
            await inbox.finish(number)
        await inbox.close()
    assert seen == sorted(set(seen))


async def test_more_events_than_fit_into_memory_wait_in_the_file(make: Callable[..., Memory]) -> None:
    async with make(policy=replace(QUICK, batch=4, max_pending=6)) as memory:
        runner = memory._engine.runner
        await memory.add_many([works_at(n) for n in range(40)], wait=False)
        most = 0
        draining = asyncio.create_task(memory.drain())
        while not draining.done():
            most = max(most, len(runner._pending))
            await asyncio.sleep(0)
        assert 0 < most < 6 + 4
        assert len(await memory.facts("g")) == 40
