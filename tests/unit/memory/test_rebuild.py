"""Memory.rebuild: a group of a file made anew from its raw episodes."""

from __future__ import annotations

import asyncio
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import Memory, SyncMemory
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import digest
from pipeline.graph.sqlite.dump import SqliteDump

GROUP = "客户/\"a'b"


def knows(name: str, who: str, whom: str) -> dict[str, Any]:
    triple = {"subject": {"name": who}, "relation": "KNOWS", "object": {"name": whom}}
    return {"id": name, "group_id": GROUP, "source": "triples", "content": [triple]}


def memory_of(path: Path) -> Memory:
    return Memory(path, embedder=HashingEmbedder(64))


def left_in(folder: Path) -> list[Path]:
    """What rebuilds have left behind."""
    return list(folder.glob("*rebuild/*"))


async def test_a_damaged_file_is_made_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    async with memory_of(path) as memory:
        await memory.add_many(
            [knows("e1", "Ana", "Bob"), knows("e2", "Bob", "Cem"), knows("e3", "Cem", "Dan")]
        )
        text = {
            "id": "e4",
            "group_id": GROUP,
            "source": "text",
            "content": "Ana moved to Lisbon in March 2024.",
        }
        await memory.add(text)
        await memory.forget(GROUP, episode="e3")
        await memory.rebuild_communities(GROUP)
    before = digest(await SqliteDump(path).dump(GROUP))
    connection = sqlite3.connect(path)
    connection.execute("UPDATE fact SET body = replace(body, 'KNOWS', 'HATES')")
    connection.execute("DELETE FROM evidence")
    connection.commit()
    connection.close()
    assert digest(await SqliteDump(path).dump(GROUP)) != before
    async with memory_of(path) as memory:
        done = await memory.rebuild(GROUP)
        assert (done.episodes, dict(done.dead)) == (3, {})
        assert done.changed > 0
        again = await memory.rebuild(GROUP)
        assert again.changed == 0
    assert digest(await SqliteDump(path).dump(GROUP)) == before
    assert left_in(tmp_path) == []


async def test_episodes_are_added_meanwhile(tmp_path: Path) -> None:
    async with memory_of(tmp_path / "graph.db") as memory:
        await memory.add_many([knows(f"e{n}", "Ana", f"friend {n}") for n in range(40)])
        rebuilding = asyncio.create_task(memory.rebuild(GROUP))
        for n in range(40, 60):
            await memory.add(knows(f"e{n}", "Ana", f"friend {n}"))
        done = await rebuilding
        assert done.episodes >= 40
        facts = await memory.facts(GROUP)
        assert sorted(f.target.name for f in facts) == sorted(f"friend {n}" for n in range(60))
        assert (await memory.rebuild(GROUP)).changes == ()


def test_the_blocking_twin(tmp_path: Path) -> None:
    with SyncMemory(tmp_path / "graph.db", embedder=HashingEmbedder(64)) as memory:
        memory.add_many([knows("e1", "Ana", "Bob"), knows("e2", "Bob", "Cem")])
        assert memory.rebuild(GROUP).episodes == 2
        assert memory.rebuild_communities(GROUP) == 1


async def test_a_file_that_is_only_read_is_not_rebuilt(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    async with memory_of(path) as memory:
        await memory.add(knows("e1", "Ana", "Bob"))
        async with Memory(path, read_only=True, embedder=HashingEmbedder(64)) as reader:
            with pytest.raises(Exception, match="read_only"):
                await reader.rebuild(GROUP)
