"""Takes an archive into a graph file, and finishes what was under way when it was made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from factstream.memory.engine import Engine, Parts
from factstream.memory.writer_lock import WriterLock
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive
from factstream.transfer.restoring import Restored, Restoring
from pipeline.clock import Clock, system_clock
from pipeline.embedding.port import Embedder
from pipeline.errors import Retryable
from pipeline.graph.archive import check_model
from pipeline.graph.sqlite.archive import SqliteArchiveSource, SqliteArchiveTarget
from pipeline.observer import SilentObserver
from streams.gateway.intake import to_record


async def restore_into_file(
    archive: Archive,
    path: Path,
    settings: Settings,
    on_records: Callable[[int], Any],
    *,
    anew: bool = False,
    clock: Clock = system_clock,
) -> Restored:
    """The groups of the archive stand in the file when this returns. See Restoring for what it raises.

    Raises SettingError also when another process writes to the file.
    """
    parts = Parts(settings=settings, clock=clock, observer=SilentObserver())
    embedder = parts.caching_embedder()
    lock = WriterLock(path)
    lock.acquire()
    try:
        await _check_file(path, embedder)
        target = SqliteArchiveTarget(path, embedder.dimension)
        await target.open()
        try:
            told = await Restoring(target, embedder, clock, anew).run(archive, on_records)
        finally:
            await target.close()
    finally:
        lock.release()
    engine = Engine(path, parts, embedder)
    await engine.open()
    try:
        await engine.go_on_after(told.sequence)
        names = parts.ontology_names()
        await engine.finish([to_record(event, clock, names) for event in told.unfinished.values()])
    finally:
        await engine.close()
    return told


async def _check_file(path: Path, embedder: Embedder) -> None:
    """SettingError when the file holds vectors of another model already."""
    source = SqliteArchiveSource(path)
    try:
        await source.open()
    except Retryable:
        return
    try:
        stored = await source.model()
        check_model(embedder.model, stored, embedder.dimension, await source.dimension(), str(path))
    finally:
        await source.close()
