"""A memory without models: triples are read as they stand, vectors come from hashed words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import Memory
from factstream.memory.policy import RunnerPolicy
from factstream.memory.retrying import RetryPolicy
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor

QUICK = RunnerPolicy(retry=RetryPolicy(attempts=3, first_pause=0.001, longest_pause=0.01))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def make(file: Path) -> Callable[..., Memory]:
    def build(**options: Any) -> Memory:
        given: dict[str, Any] = {
            "embedder": HashingEmbedder(),
            "extractor": RoutingExtractor(TriplesExtractor()),
            "policy": QUICK,
        }
        return Memory(options.pop("path", file), **{**given, **options})

    return build


@pytest.fixture
async def memory(make: Callable[..., Memory]) -> AsyncIterator[Memory]:
    async with AsyncExitStack() as stack:
        yield await stack.enter_async_context(make())
