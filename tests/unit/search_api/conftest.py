"""A small graph in memory, models that count words, and a client for the application over them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from search_api.app import create_app
from search_api.settings import ApiSettings
from tests.unit.search_api.memory_graph import MemoryGraph
from tests.unit.search_api.word_models import WordEmbedder, WordEncoder

NOW = datetime(2025, 1, 1, tzinfo=UTC)


@pytest.fixture
def graph() -> MemoryGraph:
    return MemoryGraph()


@pytest.fixture
def embedder() -> WordEmbedder:
    return WordEmbedder()


@pytest.fixture
def encoder() -> WordEncoder:
    return WordEncoder()


Client = httpx.AsyncClient
Connect = Callable[..., Client]


@pytest.fixture
async def connect(graph: MemoryGraph, embedder: WordEmbedder) -> AsyncIterator[Connect]:
    """Makes a client of an application over the graph; keyword arguments go to the settings."""
    async with AsyncExitStack() as stack:
        clients: list[Client] = []

        def make(cross_encoder: WordEncoder | None = None, **settings: Any) -> Client:
            app = create_app(ApiSettings(**settings), graph, embedder, cross_encoder, clock=lambda: NOW)
            transport = httpx.ASGITransport(app, raise_app_exceptions=False)
            clients.append(httpx.AsyncClient(transport=transport, base_url="http://search"))
            stack.push_async_callback(clients[-1].aclose)
            return clients[-1]

        yield make


@pytest.fixture
def client(connect: Connect) -> Client:
    return connect()
