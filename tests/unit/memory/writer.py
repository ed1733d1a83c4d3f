"""What other processes do in the tests: one that writes until it is killed, and one that reads."""

from __future__ import annotations

import asyncio
import faulthandler
from multiprocessing.connection import Connection
from typing import Any

from factstream.memory import Memory
from factstream.settings import Settings
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import SettingError
from pipeline.extraction.triples import TriplesExtractor
from tests.unit.memory.events import works_at

HANGS_AFTER = 100.0


def memory_of(path: str, *, read_only: bool = False) -> Memory:
    return Memory(path, read_only=read_only, embedder=HashingEmbedder(), extractor=TriplesExtractor())


def write(path: str, first: int, tell: Connection) -> None:
    """Adds episodes from number `first` on for ever, in three ways, and tells the next number after each answer."""

    # A writer that hangs says where.
    faulthandler.dump_traceback_later(HANGS_AFTER)

    async def main() -> None:
        async with memory_of(path) as memory:
            number = first
            while True:
                size = (1, 1, 5)[number % 3]
                events = [works_at(n, subject=f"P{n % 3}", one=True) for n in range(number, number + size)]
                await memory.add_many(events, wait=number % 2 == 0)
                number += size
                tell.send(number)

    asyncio.run(main())


def write_by_model(path: str, url: str, events: list[dict[str, Any]]) -> None:
    """Adds events in one batch, read by the model at an address with shared calls."""
    faulthandler.dump_traceback_later(HANGS_AFTER)

    async def main() -> None:
        settings = Settings(extractor="model", model_url=url, model="big", embedder="hashing")
        async with Memory(path, settings=settings, embedder=HashingEmbedder()) as memory:
            await memory.add_many(events)

    asyncio.run(main())


def read(path: str, tell: Connection) -> None:
    """Opens the file beside its writer; tells whether writing is refused, then counts facts on each question."""

    async def main() -> None:
        refused = 0
        try:
            await memory_of(path).open()
        except SettingError:
            refused += 1
        async with memory_of(path, read_only=True) as memory:
            try:
                await memory.add(works_at(1))
            except SettingError:
                refused += 1
            tell.send(refused)
            while tell.recv():
                found = await memory.search("works at", group_ids="g", limit=100)
                tell.send((len(await memory.facts("g")), len(found.facts)))

    asyncio.run(main())
