"""What the person at the terminal sees while a server is fetched and started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console

MIB = 1024 * 1024


class Progress:
    """A bar for downloads on a terminal, plain lines everywhere else.

    `report` receives every plain line; without it nothing is printed. `console` is only used for bars.
    """

    def __init__(self, report: Callable[[str], None] | None = None, console: Console | None = None) -> None:
        self._report = report
        self._console = console

    def line(self, text: str) -> None:
        """Hand one line to the caller."""
        if self._report is not None:
            self._report(text)

    @contextmanager
    def download(self, what: str, total: int) -> Iterator[Callable[[int], None]]:
        """Yield a function that takes the number of bytes which have arrived since its last call."""
        if self._console is not None and self._console.is_terminal:
            with self._bar(what, total, self._console) as advance:
                yield advance
        else:
            self.line(f"downloading {what}: {total / MIB:.0f} MiB")
            arrived, quarter = 0, 1

            def advance_line(count: int) -> None:
                nonlocal arrived, quarter
                arrived += count
                while quarter < 4 and arrived * 4 >= total * quarter:
                    self.line(f"downloading {what}: {25 * quarter} %")
                    quarter += 1

            yield advance_line
            self.line(f"downloaded {what}")

    @contextmanager
    def _bar(self, what: str, total: int, console: Console) -> Iterator[Callable[[int], None]]:
        from rich import progress

        columns = (
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            progress.DownloadColumn(),
            progress.TransferSpeedColumn(),
        )
        with progress.Progress(*columns, console=console) as bars:
            task = bars.add_task(f"downloading {what}", total=total)
            yield lambda count: bars.advance(task, count)
