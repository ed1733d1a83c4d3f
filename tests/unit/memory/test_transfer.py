"""Episodes to a file and back: everything arrives, in order, also after an interruption."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import Memory
from factstream.transfer.episode_source import SqliteEpisodes
from factstream.transfer.exporting import export
from factstream.transfer.importing import BadFile, check, import_events
from pipeline.errors import SettingError
from pipeline.graph.sqlite.listing import SqliteListing
from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction
from tests.unit.memory.events import works_at

EVENTS = [
    {**works_at(n, group=("b", "a 北/京")[n % 2], subject="Ana", one=True), "metadata": {"n": n}}
    for n in range(30)
]
MESSAGE = {
    "id": "m",
    "group_id": "b",
    "source": "message",
    "content": "Hello",
    "speaker": {"name": "Ana", "role": "user"},
    "reference_time": "2024-01-01T00:00:00Z",
    "thread_id": "t",
    "source_description": "chat",
}


@asynccontextmanager
async def episodes_of(path: Path) -> AsyncIterator[SqliteEpisodes]:
    listing = SqliteListing(path)
    await listing.open()
    yield SqliteEpisodes(listing)
    await listing.close()


async def told(memory: Memory) -> list[Any]:
    return [
        (f.group_id, f.fact, f.valid_at, f.invalid_at, f.episodes)
        for g in ("b", "a 北/京")
        for f in await memory.facts(g)
    ]


async def test_a_graph_goes_through_a_file_into_another(make: Callable[..., Memory], tmp_path: Path) -> None:
    one, two, out = tmp_path / "one.db", tmp_path / "two.db", tmp_path / "out.jsonl"
    written: list[str] = []
    async with make(path=one) as memory, episodes_of(one) as source:
        await memory.add_many(EVENTS)
        before = await told(memory)
        assert await export(source, await source.groups(), out, written.append) == 30
        with pytest.raises(SettingError, match="there already"):
            await export(source, ["b"], out, written.append)
    assert len(written) == 30
    lines = [json.loads(line) for line in out.read_text().splitlines()]
    assert [e for e in lines if e["group_id"] == "b"] == [e for e in EVENTS if e["group_id"] == "b"]
    assert check(out) == 30
    async with make(path=two) as memory:
        for _ in range(2):
            done: list[int] = []
            assert await import_events(memory, out, done.append) == {"committed": 30}
            assert sum(done) == 30
            assert await told(memory) == before


async def test_every_field_of_an_event_comes_back(
    make: Callable[..., Memory], file: Path, tmp_path: Path
) -> None:
    class Nothing:
        async def extract(self, episode: object, context: object) -> Extraction:
            return Extraction()

    async with make(extractor=Nothing()) as memory, episodes_of(file) as source:
        await memory.add(MESSAGE)
        await export(source, ["b"], tmp_path / "out.jsonl", lambda _: None)
    assert json.loads((tmp_path / "out.jsonl").read_text()) == MESSAGE


@pytest.mark.parametrize("broken_after", [0, 1, 14, 15, 16, 29])
async def test_an_interrupted_export_goes_on(
    make: Callable[..., Memory], file: Path, tmp_path: Path, broken_after: int
) -> None:
    class Broken:
        def __init__(self, source: SqliteEpisodes) -> None:
            self.source, self.left = source, broken_after

        async def groups(self) -> list[str]:
            return await self.source.groups()

        async def episodes(self, group_id: str) -> AsyncIterator[Episode]:
            async for episode in self.source.episodes(group_id):
                if self.left == 0:
                    raise ConnectionError("gone")
                self.left -= 1
                yield episode

    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    async with make() as memory, episodes_of(file) as source:
        await memory.add_many(EVENTS)
        groups = await source.groups()
        await export(source, groups, whole, lambda _: None)
        with pytest.raises(ConnectionError):
            await export(Broken(source), groups, out, lambda _: None)
        with (tmp_path / "out.jsonl.part").open("ab") as part:
            part.write(b'{"id": "half a li')
        assert not out.exists()
        assert await export(source, groups, out, lambda _: None) == 30
    assert out.read_bytes() == whole.read_bytes()


async def test_an_export_does_not_go_on_after_an_episode_that_is_gone(
    make: Callable[..., Memory], file: Path, tmp_path: Path
) -> None:
    part = tmp_path / "out.jsonl.part"
    async with make() as memory, episodes_of(file) as source:
        await memory.add(works_at(1, group="b"))
        part.write_text(json.dumps({"group_id": "b", "id": "gone"}) + "\n")
        with pytest.raises(SettingError, match="gone since"):
            await export(source, ["b"], tmp_path / "out.jsonl", lambda _: None)
        with pytest.raises(SettingError, match="other groups"):
            await export(source, ["c"], tmp_path / "out.jsonl", lambda _: None)


async def test_a_file_with_bad_lines_is_refused_whole(tmp_path: Path) -> None:
    file = tmp_path / "bad.jsonl"
    file.write_text(f"{json.dumps(works_at(1))}\n\n{{\n" + json.dumps({**works_at(2), "x": 1}))
    with pytest.raises(BadFile, match=r"line 3: is not JSON.*line 4: x: is not a field"):
        check(file)
    with pytest.raises(BadFile, match="cannot be read"):
        check(tmp_path / "none.jsonl")
