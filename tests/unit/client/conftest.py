"""A running factstream in one process over HTTP, for clients."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from factstream.embedded import EmbeddedServer, EmbeddedUrls
from factstream.settings import Settings, load_settings

PATIENCE = 60


def settings(**options: Any) -> Settings:
    return load_settings({"embedder": "hashing", "gateway_port": 0, "search_port": 0, **options})


def works_at(number: int, **given: Any) -> dict[str, Any]:
    """A triple event about an employee."""
    content = {
        "subject": {"name": f"P{number}", "type": "Person"},
        "relation": "WORKS_AT",
        "object": {"name": f"C{number}", "type": "Company"},
        "valid_at": "2024-01-01",
    }
    return {"group_id": "g", "source": "triples", "content": [content], **given}


@pytest.fixture
async def urls(tmp_path: Path) -> AsyncIterator[EmbeddedUrls]:
    async with EmbeddedServer(settings(), tmp_path / "memory.db").running() as (found, _):
        yield found


@contextmanager
def served(path: Path, **options: Any) -> Iterator[EmbeddedUrls]:
    """The same in a thread of its own, for clients that block."""
    ready: list[EmbeddedUrls] = []
    begun = threading.Event()
    loop = asyncio.new_event_loop()
    stop = asyncio.Event()

    def note(found: EmbeddedUrls) -> None:
        ready.append(found)
        begun.set()

    def run() -> None:
        asyncio.set_event_loop(loop)
        try:
            loop.run_until_complete(EmbeddedServer(settings(**options), path).run(stop, note))
        finally:
            begun.set()
            loop.close()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert begun.wait(PATIENCE)
        assert ready, "the server ended while it started"
        yield ready[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(PATIENCE)
    assert not thread.is_alive()


@pytest.fixture
def blocking_urls(tmp_path: Path) -> Iterator[EmbeddedUrls]:
    with served(tmp_path / "memory.db") as found:
        yield found
