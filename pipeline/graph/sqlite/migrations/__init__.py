"""The steps from one format of a graph file to the next, one file each.

All steps that a file has before it run in the one transaction that opens it for writing: a process that dies in
between leaves the file as it was, and of two that open it at once one waits and finds it done.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping

from pipeline.graph.sqlite.migrations import to_2_provenance, to_3_stems

STEPS: Mapping[int, Callable[[sqlite3.Connection], None]] = {
    2: to_2_provenance.migrate,
    3: to_3_stems.migrate,
}
"""By the version that they lead to."""


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """From a version to the newest, inside the caller's transaction."""
    for target in sorted(STEPS):
        if target > version:
            STEPS[target](connection)
            connection.execute(f"PRAGMA user_version = {target}")
