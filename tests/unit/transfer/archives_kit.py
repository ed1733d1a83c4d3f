"""Groups in a graph file, archives of them, and what is compared."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive, ArchiveWriter
from factstream.transfer.archiving import archive
from factstream.transfer.waiting import waiting_events
from pipeline.graph.digest import digest
from pipeline.graph.sqlite.archive import SqliteArchiveSource
from pipeline.graph.sqlite.dump import SqliteDump
from tests.unit.memory.events import works_at

GROUPS = ("b", "a 北/京")
SETTINGS = Settings(embedder="hashing")


def memory_of(path: Path, **options: Any) -> Memory:
    """A memory over a file, with vectors of hashed words."""
    return Memory(path, settings=SETTINGS, **options)


async def filled(path: Path, count: int = 20) -> Path:
    """A file with `count` facts of Ana, in two groups in turn."""
    async with memory_of(path) as memory:
        events = [works_at(n, group=GROUPS[n % 2], subject="Ana", one=True) for n in range(count)]
        await memory.add_many(events)
    return path


async def archived(path: Path, to: Path, groups: Sequence[str] = GROUPS) -> Path:
    """The groups of a file as an archive."""
    source = SqliteArchiveSource(path)
    await source.open()
    try:
        waiting = await waiting_events(path)
        await archive(source, groups, to, waiting, lambda: None)
    finally:
        await source.close()
    return to


async def digests(path: Path) -> list[str]:
    """The digest of each group."""
    return [digest(await SqliteDump(path).dump(group)) for group in GROUPS]


def silent(lines: int) -> None:
    """Takes progress and does nothing."""


def records_of(file: Path) -> list[bytes]:
    """The lines of an archive between its head and its end, but for events."""
    return [line for line in file.read_bytes().splitlines()[1:-1] if not line.startswith(b'{"kind":"event"')]


def other_model(folder: Path, file: Archive) -> Path:
    """The same groups, as if another model had made the vectors."""
    path = folder / "other.jsonl"
    with ArchiveWriter(path, list(file.head.groups), "another", file.head.dimension) as writer:
        group = ""
        for line in file.lines():
            if line.group_id != group:
                group = line.group_id
                writer.begin(group)
            writer.put(line.record)
        writer.finish()
    return path
