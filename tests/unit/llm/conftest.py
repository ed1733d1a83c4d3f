"""A client against the scripted endpoint, with a clock that never waits."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from tests.llm_support import FakeTime, RecordingObserver
from tests.model_server import ModelServer


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def observer() -> RecordingObserver:
    return RecordingObserver()


@pytest.fixture
async def connect(time: FakeTime) -> AsyncIterator[Callable[..., Endpoint]]:
    """Makes endpoints to a server; they are closed at the end."""
    made: list[Endpoint] = []

    def to(server: ModelServer, key: str = "", **more: Any) -> Endpoint:
        made.append(Endpoint(server.url, key, timing=time.timing, **more))
        return made[-1]

    yield to
    for endpoint in made:
        await endpoint.close()


@pytest.fixture
def chat(
    server: ModelServer, connect: Callable[..., Endpoint], observer: RecordingObserver, time: FakeTime
) -> OpenAIChat:
    return OpenAIChat(connect(server), "big", observer, small_model="tiny", timing=time.timing)
