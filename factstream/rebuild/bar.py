"""Bar: how far a rebuild is, on a terminal; a line for every tenth elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self, TextIO

from factstream.rebuild.parts import Progress

WIDTH = 30


class Bar:
    """Shows the progress of one group on standard error, for the length of a `with`."""

    def __init__(self, group_id: str, out: TextIO | None = None) -> None:
        self._group_id = group_id
        self._out = out or sys.stderr
        self._live = self._out.isatty()
        self._started = time.monotonic()
        self._tenth = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._out.write("\r\033[K")
            self._out.flush()

    def show(self, progress: Progress) -> None:
        """Where it is now."""
        part = progress.done / progress.total if progress.total else 1.0
        tenth = int(part * 10)
        if not self._live:
            if tenth != self._tenth:
                self._out.write(f"{self._group_id}: {progress.phase} {progress.done}/{progress.total}\n")
                self._tenth = tenth
            return
        filled = int(part * WIDTH)
        took = time.monotonic() - self._started
        left = f", about {took / part - took:.0f} s left" if 0.02 < part < 1 else ""
        self._out.write(
            f"\r\033[K{self._group_id} [{'█' * filled}{'░' * (WIDTH - filled)}] "
            f"{progress.done}/{progress.total} {progress.phase}{left}"
        )
        self._out.flush()
