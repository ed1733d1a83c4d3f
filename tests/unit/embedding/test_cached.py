"""CachingEmbedder: what is known is not asked again, what is on its way is shared."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from pipeline.embedding.cached import CachingEmbedder
from pipeline.errors import Retryable
from pipeline.observer import SilentObserver


class Inner:
    """Answers [length of the text, query?], and remembers what it was asked."""

    def __init__(self) -> None:
        self.model = "inner-1"
        self.dimension = 2
        self.asked: list[list[str]] = []
        self.calls: asyncio.Queue[None] = asyncio.Queue()
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.asked.append(list(texts))
        self.calls.put_nowait(None)
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return [[float(len(text)), float(query)] for text in texts]


class Counts(SilentObserver):
    """Keeps (texts, cached) of each request."""

    def __init__(self) -> None:
        self.seen: list[tuple[int, int]] = []

    def embedded(self, texts: int, cached: int, seconds: float) -> None:
        assert seconds >= 0
        self.seen.append((texts, cached))


async def _asked(inner: Inner, times: int) -> None:
    async with asyncio.timeout(5):
        for _ in range(times):
            await inner.calls.get()


async def test_only_what_is_missing_is_asked_once_and_in_order() -> None:
    inner, counts = Inner(), Counts()
    embedder = CachingEmbedder(inner, 10, counts)
    assert await embedder.embed(["a", "bb", "a"]) == [[1, 0], [2, 0], [1, 0]]
    assert await embedder.embed(["ccc", "a"]) == [[3, 0], [1, 0]]
    assert await embedder.embed(["a"]) == [[1, 0]]
    assert await embedder.embed([]) == []
    assert inner.asked == [["a", "bb"], ["ccc"]]
    assert counts.seen == [(3, 0), (2, 1), (1, 1)]
    assert (embedder.model, embedder.dimension) == ("inner-1", 2)


async def test_questions_and_models_are_spaces_of_their_own() -> None:
    inner = Inner()
    embedder = CachingEmbedder(inner, 10, SilentObserver())
    assert await embedder.embed(["a"]) == [[1, 0]]
    assert await embedder.embed(["a"], query=True) == [[1, 1]]
    inner.model = "inner-2"
    await embedder.embed(["a"])
    assert inner.asked == [["a"], ["a"], ["a"]]


async def test_the_text_used_least_recently_gives_way() -> None:
    inner = Inner()
    embedder = CachingEmbedder(inner, 2, SilentObserver())
    await embedder.embed(["a", "b"])
    await embedder.embed(["a"])
    await embedder.embed(["c"])
    await embedder.embed(["a"])
    assert inner.asked == [["a", "b"], ["c"]]
    await embedder.embed(["b"])
    assert inner.asked[-1] == ["b"]


async def test_a_request_larger_than_the_cache_is_answered_whole() -> None:
    inner = Inner()
    embedder = CachingEmbedder(inner, 2, SilentObserver())
    assert await embedder.embed(["a", "bb", "ccc"]) == [[1, 0], [2, 0], [3, 0]]


async def test_equal_requests_at_the_same_time_share_a_call() -> None:
    inner, counts = Inner(), Counts()
    embedder = CachingEmbedder(inner, 10, counts)
    inner.gate.clear()
    requests = [asyncio.create_task(embedder.embed(texts)) for texts in (["a", "b"], ["b", "c"], ["a"])]
    await _asked(inner, 2)
    inner.gate.set()
    assert await asyncio.gather(*requests) == [[[1, 0], [1, 0]], [[1, 0], [1, 0]], [[1, 0]]]
    assert inner.asked == [["a", "b"], ["c"]]
    assert sorted(counts.seen) == [(1, 1), (2, 0), (2, 1)]


async def test_an_error_reaches_all_who_wait_and_is_not_kept() -> None:
    inner = Inner()
    embedder = CachingEmbedder(inner, 10, SilentObserver())
    inner.gate.clear()
    inner.error = Retryable("down")
    requests = [asyncio.create_task(embedder.embed(["a"])) for _ in range(2)]
    await _asked(inner, 1)
    inner.gate.set()
    results = await asyncio.gather(*requests, return_exceptions=True)
    assert [type(result) for result in results] == [Retryable, Retryable]
    inner.error = None
    assert await embedder.embed(["a"]) == [[1, 0]]


async def test_a_cancelled_caller_does_not_take_the_call_from_the_others() -> None:
    inner = Inner()
    embedder = CachingEmbedder(inner, 10, SilentObserver())
    inner.gate.clear()
    first = asyncio.create_task(embedder.embed(["a"]))
    await _asked(inner, 1)
    second = asyncio.create_task(embedder.embed(["a"]))
    await asyncio.sleep(0)
    first.cancel()
    with pytest.raises(asyncio.CancelledError):
        await first
    inner.gate.set()
    assert await second == [[1, 0]]
    assert inner.asked == [["a"]]


async def test_what_a_caller_does_to_its_vectors_stays_with_it() -> None:
    embedder = CachingEmbedder(Inner(), 10, SilentObserver())
    (vector,) = await embedder.embed(["a"])
    vector[0] = 99.0
    assert await embedder.embed(["a"]) == [[1, 0]]
