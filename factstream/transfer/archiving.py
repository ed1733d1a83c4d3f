"""Writes whole groups to an archive file; goes on where an earlier run was interrupted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from factstream.transfer.archive_file import ArchiveWriter, EventRecord
from pipeline.errors import Fenced, Retryable
from pipeline.graph.archive import ArchiveSource, Record

ATTEMPTS = 5

Waiting = Callable[[str], Any]


async def archive(
    source: ArchiveSource,
    groups: Sequence[str],
    path: Path,
    waiting: Sequence[EventRecord],
    on_record: Callable[[], Any],
) -> int:
    """Write everything of `groups`; the number of lines.

    Args:
        source: opened; a group that changes while it is read without a snapshot is read again.
        waiting: events that are accepted and not finished; read before this is called, so that none is missing.
        on_record: is called for each record, perhaps in another thread.

    Raises SettingError when the file is there already, Retryable when a group does not come to rest.
    """
    wanted = sorted(groups)
    with ArchiveWriter(path, wanted, await source.model(), await source.dimension()) as writer:

        def put(record: Record) -> None:
            writer.put(record)
            on_record()

        for group in wanted:
            if group in writer.done:
                continue
            await _group(source, group, writer, [e for e in waiting if e.group_id == group], put)
            writer.flush()
        return writer.finish()


async def _group(
    source: ArchiveSource,
    group: str,
    writer: ArchiveWriter,
    waiting: Sequence[EventRecord],
    put: Callable[[Record], None],
) -> None:
    for _ in range(ATTEMPTS):
        writer.begin(group)
        for event in waiting:
            writer.put(event)
        try:
            await source.tell(group, put)
        except Fenced:
            continue
        return
    raise Retryable(
        f"group {group!r} takes in episodes all the time: stop its workers, or export it when it is quiet; "
        "run again, and it goes on with this group"
    )
