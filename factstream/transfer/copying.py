"""A whole copy of a graph file, made while it is in use."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from pipeline.errors import Retryable, SettingError
from pipeline.graph.sqlite import schema


def copy_file(graph: Path, copy: Path) -> int:
    """Copy a graph file as it is at one moment, with what is still in its log; its size in bytes.

    Raises SettingError when there is no graph, or the copy is there already; Retryable when the disk is full.
    """
    if not graph.exists():
        raise SettingError(f"there is no graph file {graph}")
    if copy.exists():
        raise SettingError(f"{copy} is there already: name another file")
    part = copy.with_name(copy.name + ".part")
    part.unlink(missing_ok=True)
    try:
        source = sqlite3.connect(f"{graph.absolute().as_uri()}?mode=ro", uri=True, timeout=10)
        try:
            schema.check(source)
            # One step: between steps a writer would make it begin again.
            target = sqlite3.connect(part)
            try:
                source.backup(target)
            finally:
                target.close()
        finally:
            source.close()
    except sqlite3.DatabaseError as error:
        part.unlink(missing_ok=True)
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF
        if code in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
            raise SettingError(f"{graph} is no SQLite database, or is damaged: {error}") from error
        raise Retryable(f"{graph} could not be copied: {error}") from error
    part.rename(copy)
    return copy.stat().st_size
