"""An extractor against the scripted endpoint."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from tests.llm_support import FakeTime, RecordingObserver
from tests.model_server import ModelServer

Build = Callable[..., ModelExtractor]


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
def observer() -> RecordingObserver:
    return RecordingObserver()


@pytest.fixture
async def build(server: ModelServer, observer: RecordingObserver) -> AsyncIterator[Build]:
    """Makes extractors; their connection is closed at the end."""
    time = FakeTime()
    endpoint = Endpoint(server.url, timing=time.timing)
    chat = OpenAIChat(endpoint, "big", observer, timing=time.timing)

    def made(**more: Any) -> ModelExtractor:
        return ModelExtractor(chat, observer, **more)

    yield made
    await endpoint.close()
