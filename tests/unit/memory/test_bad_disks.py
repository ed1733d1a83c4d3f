"""A disk that is full, a file that is damaged: a clear error, nothing acknowledged is lost, and it goes on afterwards."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive
from factstream.transfer.archiving import archive
from factstream.transfer.into_file import restore_into_file
from pipeline.errors import Retryable, SettingError
from pipeline.graph.digest import digest
from pipeline.graph.sqlite.archive import SqliteArchiveSource
from pipeline.graph.sqlite.database import Database
from pipeline.graph.sqlite.dump import SqliteDump
from tests.unit.memory.events import works_at


class Disk:
    """A disk with room for so many pages of a graph file; None: for as many as come."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pages: int | None = None
        original = Database._transaction

        def limited(database: Database, begin: str, work: Callable[[sqlite3.Connection], object]) -> object:
            if database._connection is not None:
                database._connection.execute(f"PRAGMA max_page_count = {self.pages or 1 << 30}")
            return original(database, begin, work)

        monkeypatch.setattr(Database, "_transaction", limited)

    def fill(self, file: Path) -> None:
        """No page more than the file has."""
        with sqlite3.connect(file) as connection:
            self.pages = connection.execute("PRAGMA page_count").fetchone()[0]


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


async def test_a_full_disk_refuses_and_what_was_accepted_is_finished_when_there_is_room(
    make: Callable[..., Memory], file: Path, disk: Disk
) -> None:
    async with make() as memory:
        await memory.add_many([works_at(n, subject="Ana", one=True) for n in range(3)])
        disk.fill(file)
        accepted: list[str] = []

        async def go_on() -> None:
            for number in range(3, 400):
                event = works_at(number, subject="Ana", one=True)
                accepted.append((await memory.add_many([event], wait=False))[0].id)

        for _ in range(3):
            with pytest.raises(Retryable, match="full"):
                await go_on()
        # What was there can be read meanwhile.
        assert len(await memory.facts("g")) >= 3
        await asyncio.sleep(0)
        disk.pages = None
        await memory.add(works_at(500, subject="Ana", one=True))
        await memory.drain()
        stored = {fact.target.name for fact in await memory.facts("g")}
        assert stored == {"C0", "C1", "C2", "C500", *(f"C{name[1:]}" for name in accepted)}
        assert await memory.dead() == []


async def test_an_import_onto_a_full_disk_goes_on_when_there_is_room(
    make: Callable[..., Memory], file: Path, tmp_path: Path, disk: Disk
) -> None:
    settings = Settings(embedder="hashing")
    async with make() as memory:
        await memory.add_many([works_at(n, subject="Ana", one=True) for n in range(60)])
    source = SqliteArchiveSource(file)
    await source.open()
    await archive(source, ["g"], tmp_path / "all.jsonl", [], lambda: None)
    await source.close()
    other = tmp_path / "other.db"
    disk.pages = 60
    with pytest.raises(Retryable, match="full"):
        await restore_into_file(Archive(tmp_path / "all.jsonl"), other, settings, lambda _: None)
    disk.pages = None
    await restore_into_file(Archive(tmp_path / "all.jsonl"), other, settings, lambda _: None)
    assert digest(await SqliteDump(other).dump("g")) == digest(await SqliteDump(file).dump("g"))


@pytest.mark.parametrize("share", [0.0, 0.02, 0.5])
async def test_a_damaged_file_is_named(make: Callable[..., Memory], file: Path, share: float) -> None:
    async with make() as memory:
        await memory.add_many([works_at(n) for n in range(40)])
    damage(file, share)

    async def use() -> None:
        async with make() as memory:
            await memory.add_many([works_at(n) for n in range(40, 80)])
            await memory.search("works at", group_ids="g", limit=100)
            await memory.facts("g")
            await SqliteDump(file).dump("g")

    with pytest.raises(SettingError, match=r"memory\.db is no SQLite database, or is damaged"):
        await use()


def damage(file: Path, share: float) -> None:
    """Write nonsense over 60 pages, from a share of the file on."""
    content = bytearray(file.read_bytes())
    start = int(len(content) * share) // 4096 * 4096
    end = min(len(content), start + 60 * 4096)
    content[start:end] = b"\xa5" * (end - start)
    file.write_bytes(bytes(content))
