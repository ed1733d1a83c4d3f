"""A batch that a chat model reads: fewer calls, the same graph, nothing lost by a stop."""

from __future__ import annotations

import asyncio
import multiprocessing
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import Memory
from factstream.settings import Settings
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import digest
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.model.episode import Usage
from tests.model_server import ModelServer, Status
from tests.unit.memory import writer
from tests.unit.memory.conftest import QUICK
from tests.unit.memory.events import works_at

GROUPS = ("g0", "g1")
PEOPLE = ("Ana", "Ben", "Clara")
WORDS = (
    "I work at Acme{n}.",
    "ok, thanks!",
    "I bought a Tesla{n} last week.",
    "I moved to Lima{n} yesterday.",
    "I no longer work at Acme{n}.",
)


def said(number: int) -> dict[str, Any]:
    group = number % 2
    return {
        "id": f"e{number}",
        "group_id": GROUPS[group],
        "source": "message",
        "speaker": {"name": f"{PEOPLE[number // 2 % 3]}{group}"},
        "content": WORDS[number // 2 % len(WORDS)].format(n=number // 20),
        "reference_time": f"2024-03-{1 + number // 2:02}T09:00:00Z",
        "thread_id": f"t{group}",
    }


EVENTS = [said(number) for number in range(40)]


@asynccontextmanager
async def reading(
    make: Callable[..., Memory], path: Path, server: ModelServer, asked: int
) -> AsyncIterator[Memory]:
    settings = Settings(extractor="model", model_url=server.url, model="big", embedder="hashing")
    policy = replace(QUICK, asked=asked)
    options: dict[str, Any] = {"settings": settings, "extractor": None, "policy": policy, "path": path}
    async with make(embedder=HashingEmbedder(), **options) as memory:
        yield memory


async def digests(memory: Memory, path: Path) -> list[str]:
    for group in GROUPS:
        await memory.rebuild_communities(group)
    return [digest(await SqliteDump(path).dump(group)) for group in GROUPS]


def extractions(server: ModelServer) -> Counter[str]:
    return Counter(r.purpose for r in server.chats if r.purpose.startswith("extract"))


async def test_a_batch_asks_less_often_and_makes_the_same_graph(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    one, batch = tmp_path / "one.db", tmp_path / "batch.db"
    async with ModelServer() as server, reading(make, one, server, 8) as memory:
        for event in EVENTS:
            await memory.add(event)
        wanted = await digests(memory, one)
        facts = [len(await memory.facts(group)) for group in GROUPS]
        assert extractions(server) == {"extract": 32}
        calls_one_by_one = len(server.chats)
    assert min(facts) > 10
    async with ModelServer() as server, reading(make, batch, server, 8) as memory:
        added = await memory.add_many(EVENTS)
        assert [a.id for a in added] == [e["id"] for e in EVENTS]
        assert await digests(memory, batch) == wanted
        assert extractions(server) == {"extract_several": 4}
        assert len(server.chats) < calls_one_by_one
        for request in server.chats:
            assert ("Ana0" in request.user) != ("Ana1" in request.user) or "Ana" not in request.user
        spent = Usage()
        for event in EVENTS:
            told = await memory.episode(event["group_id"], event["id"])
            assert told is not None
            spent += Usage(llm_calls=told.usage.llm_calls, prompt_tokens=told.usage.prompt_tokens)
        assert spent.llm_calls == len(server.chats)
        assert spent.prompt_tokens == sum(r.prompt_tokens for r in server.chats)


async def test_one_switches_it_off_and_settings_switch_it_on(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    async with ModelServer() as server, reading(make, tmp_path / "off.db", server, 1) as memory:
        await memory.add_many(EVENTS[:10])
        assert set(extractions(server)) == {"extract"}
    async with ModelServer() as server:
        settings = Settings(extractor="model", model_url=server.url, model="big", embedder="hashing")
        options: dict[str, Any] = {"settings": settings, "extractor": None, "policy": None}
        async with make(path=tmp_path / "on.db", **options) as memory:
            await memory.add_many(EVENTS[:10])
        assert extractions(server)["extract_several"] == 2


async def test_a_group_has_one_round_at_a_time(make: Callable[..., Memory], tmp_path: Path) -> None:
    """So that no more of it than a round passes a budget before what it has spent is known."""
    events = [{**EVENTS[0], "id": f"b{n}", "content": f"I bought a Thing{n:03}."} for n in range(120)]
    async with ModelServer(latency=0.05) as server, reading(make, tmp_path / "m.db", server, 8) as memory:
        await memory.add_many(events)
        assert len(await memory.facts("g0")) == 120
        assert extractions(server) == {"extract_several": 15}
        # Four calls of a round, and one of a judge.
        assert server.most_running <= 5


async def test_triples_between_messages_wait_for_nobody_and_cost_nothing(
    make: Callable[..., Memory], tmp_path: Path
) -> None:
    events = [e for n in range(6) for e in (works_at(n, group="g0"), {**EVENTS[4 * n], "id": f"m{n}"})]
    async with ModelServer() as server, reading(make, tmp_path / "m.db", server, 8) as memory:
        added = await memory.add_many(events)
    assert {a.state.value for a in added} == {"committed"}
    assert extractions(server) == {"extract_several": 1}


@pytest.mark.parametrize("fault", [Status(503), Status(400), "no JSON"], ids=["away", "rejected", "unusable"])
async def test_a_shared_call_that_fails_loses_nothing(
    make: Callable[..., Memory], tmp_path: Path, fault: Any
) -> None:
    path = tmp_path / "m.db"
    async with ModelServer() as server, reading(make, tmp_path / "wanted.db", server, 1) as memory:
        await memory.add_many(EVENTS)
        wanted = await digests(memory, tmp_path / "wanted.db")
    async with ModelServer() as server, reading(make, path, server, 8) as memory:
        server.on(fault, purpose="extract_several", times=3)
        added = await memory.add_many(EVENTS)
        assert {a.state.value for a in added} == {"committed"}
        assert await digests(memory, path) == wanted


@pytest.mark.parametrize("commits", [0, 1, 5])
async def test_a_stop_amid_a_shared_call_loses_nothing(
    make: Callable[..., Memory], tmp_path: Path, commits: int
) -> None:
    path = tmp_path / "m.db"
    async with ModelServer() as server, reading(make, tmp_path / "wanted.db", server, 1) as memory:
        await memory.add_many(EVENTS)
        wanted = await digests(memory, tmp_path / "wanted.db")
    async with ModelServer(latency=lambda r: 0.0 if r.number <= commits else 3600.0) as server:
        async with reading(make, path, server, 8) as memory:
            await memory.add_many(EVENTS, wait=False)
            async with asyncio.timeout(30):
                while len(server.chats) <= commits:
                    await asyncio.sleep(0.01)
        server.latency = 0.0
        async with reading(make, path, server, 8) as memory:
            await memory.drain()
            assert await digests(memory, path) == wanted
            assert await memory.dead() == []


async def test_a_kill_amid_shared_calls_loses_nothing(make: Callable[..., Memory], tmp_path: Path) -> None:
    path = tmp_path / "m.db"
    async with ModelServer() as server, reading(make, tmp_path / "wanted.db", server, 1) as memory:
        await memory.add_many(EVENTS)
        wanted = await digests(memory, tmp_path / "wanted.db")
    fork = multiprocessing.get_context("forkserver")
    fork.set_forkserver_preload(["tests.unit.memory.writer", "factstream.compose"])
    async with ModelServer(latency=0.03) as server:
        for calls in (1, 2, 5, 9):
            asked = len(server.chats)
            process = fork.Process(
                target=writer.write_by_model, args=(str(path), server.url, EVENTS), daemon=True
            )
            process.start()
            async with asyncio.timeout(100):
                while len(server.chats) < asked + calls and process.is_alive():
                    await asyncio.sleep(0.005)
            process.kill()
            await asyncio.to_thread(process.join)
        assert extractions(server)["extract_several"] >= 1
        server.latency = 0.0
        async with reading(make, path, server, 8) as memory:
            await memory.add_many(EVENTS)
            assert await digests(memory, path) == wanted
            assert await memory.dead() == []
