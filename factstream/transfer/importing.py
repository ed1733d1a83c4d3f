"""Reads a file of events into an embedded memory; a second run does nothing again."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from factstream.memory import Memory
from pipeline.clock import system_clock
from pipeline.errors import FactstreamError
from pipeline.model.event import InvalidEvent
from streams.gateway.intake import to_record

CHUNK = 200


class BadFile(FactstreamError):
    """A file with lines that are no events; nothing of it was read in."""


def check(path: Path) -> int:
    """The number of events of a file. Raises BadFile with the first lines that are wrong."""
    faults: list[str] = []
    count = 0
    for number, line in _lines(path):
        count += 1
        try:
            to_record(json.loads(line), system_clock)
        except InvalidEvent as error:
            faults += [f"line {number}: {field}: {text}" for field, text in error.errors]
        except (ValueError, RecursionError) as error:
            faults.append(f"line {number}: is not JSON: {error}")
        if len(faults) > 20:
            break
    if faults:
        raise BadFile("nothing was read in: " + "; ".join(faults[:20]))
    return count


async def import_events(memory: Memory, path: Path, on_episodes: Callable[[int], Any]) -> Counter[str]:
    """Add all events of a checked file, in its order; how many came to which state.

    An episode that is known is passed over by the marks of its stages, so an interrupted import is simply run again.
    """
    states: Counter[str] = Counter()
    chunk: list[dict[str, Any]] = []

    async def add() -> None:
        added = await memory.add_many(chunk)
        states.update(one.state.value for one in added)
        on_episodes(len(added))
        chunk.clear()

    for _, line in _lines(path):
        chunk.append(json.loads(line))
        if len(chunk) == CHUNK:
            await add()
    await add()
    return states


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} cannot be read: {error}") from error
