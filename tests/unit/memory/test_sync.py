"""The synchronous twin: scripts, notebooks, threads."""

from __future__ import annotations

import inspect
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import factstream
from factstream.memory import Memory, SyncMemory
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import SettingError
from pipeline.extraction.triples import TriplesExtractor
from pipeline.model.event import InvalidEvent
from tests.unit.memory.events import works_at


def sync_memory(file: Path, **options: Any) -> SyncMemory:
    return SyncMemory(file, embedder=HashingEmbedder(), extractor=TriplesExtractor(), **options)


def test_it_has_every_method_of_the_memory_with_the_same_arguments() -> None:
    for name, method in inspect.getmembers(Memory, inspect.isfunction):
        if not name.startswith("_"):
            twin = getattr(SyncMemory, name)
            assert inspect.signature(twin) == inspect.signature(method), name


def test_a_script_adds_and_asks(file: Path) -> None:
    with sync_memory(file) as memory:
        memory.add(works_at(1, subject="Ana"))
        memory.add_many([works_at(2), works_at(3)], wait=False)
        memory.drain()
        assert memory.search("Ana", group_ids="g").facts[0].target.name == "C1"
        assert "Ana works at C1" in memory.context("Ana", group_ids="g", max_tokens=200).context
        assert len(memory.facts("g")) == 3
        assert len(memory.entities("g")) == 6
        assert memory.groups() == ["g"]
        assert memory.dead() == []
        assert memory.replay("g", "e1") == 0
        assert memory.rebuild_communities("g") == 3
        with pytest.raises(InvalidEvent):
            memory.add({"source": "text"})


async def test_it_works_where_a_loop_runs_already(file: Path) -> None:
    # As in a notebook, whose cells run inside a loop.
    with sync_memory(file) as memory:
        memory.add(works_at(1))
        episode = memory.episode("g", "e1")
        assert episode is not None
        assert len(episode.facts) == 1


def test_several_threads_may_share_it(file: Path) -> None:
    with sync_memory(file) as memory, ThreadPoolExecutor(4) as pool:
        list(pool.map(lambda n: memory.add(works_at(n, group=f"g{n % 4}")), range(24)))
        assert sum(len(memory.facts(f"g{n}")) for n in range(4)) == 24


def test_open_and_close_may_be_repeated_and_a_closed_one_says_so(file: Path) -> None:
    memory = sync_memory(file)
    with pytest.raises(RuntimeError, match="not open"):
        memory.groups()
    memory.open()
    memory.open()
    memory.close()
    memory.close()
    with pytest.raises(SettingError):
        sync_memory(file.parent / "nowhere" / "x.db").open()


def test_the_package_offers_both() -> None:
    assert factstream.Memory is Memory
    assert factstream.SyncMemory is SyncMemory
    with pytest.raises(AttributeError):
        factstream.Nothing  # noqa: B018
