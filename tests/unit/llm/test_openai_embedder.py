"""Embeddings over a real HTTP endpoint."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from pipeline.embedding.openai import OpenAIEmbedder
from pipeline.errors import Poison, Retryable, SettingError
from pipeline.llm.endpoint import Endpoint
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer, Raw, Status

Build = Callable[..., OpenAIEmbedder]


@pytest.fixture
def build(server: ModelServer, connect: Callable[..., Endpoint], observer: RecordingObserver) -> Build:
    def made(dimension: int = 64, **more: Any) -> OpenAIEmbedder:
        return OpenAIEmbedder(connect(server), "bge-m3", dimension, observer, **more)

    return made


async def test_unit_vectors_in_order_and_in_batches(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    embedder = build(batch=4)
    texts = [f"text number {i}" for i in range(10)]
    vectors = await embedder.embed(texts)
    assert [len(r.inputs) for r in server.embeddings] == [4, 4, 2]
    assert all(len(v) == 64 and math.isclose(sum(x * x for x in v), 1) for v in vectors)
    assert vectors[7] == (await build().embed(["text number 7"]))[0]
    assert observer.outcomes == {("embed", "ok"): 4}
    assert "dimensions" not in server.embeddings[0].payload


async def test_answers_out_of_order_are_put_in_order(server: ModelServer, build: Build) -> None:
    rows = [{"index": 1, "embedding": [0.0, 2.0]}, {"index": 0, "embedding": [3.0, 0.0]}]
    server.on(Raw(json.dumps({"data": rows})))
    assert await build(2).embed(["a", "b"]) == [[1.0, 0.0], [0.0, 1.0]]


async def test_nothing_asks_nothing(server: ModelServer, build: Build) -> None:
    assert await build().embed([]) == []
    assert server.requests == []


async def test_prefixes_and_empty_texts(server: ModelServer, build: Build) -> None:
    embedder = build(query_prefix="query: ", text_prefix="passage: ")
    await embedder.embed(["Ana"], query=True)
    await embedder.embed(["Ana"])
    await build().embed([""])
    assert [r.inputs for r in server.embeddings] == [["query: Ana"], ["passage: Ana"], [" "]]


async def test_a_dimension_can_be_asked_for(server: ModelServer, build: Build) -> None:
    await build(request_dimension=True).embed(["Ana"])
    assert server.embeddings[0].payload["dimensions"] == 64


async def test_another_dimension_is_a_clear_error_and_never_cut(server: ModelServer, build: Build) -> None:
    with pytest.raises(
        SettingError, match=r"bge-m3 answers vectors of 64 numbers, but FACTSTREAM_EMBEDDING_DIMENSION is 32"
    ):
        await build(32).check()
    with pytest.raises(Retryable):
        await build(128).embed(["Ana"])
    await build(64).check()


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"data": []},
        {"data": [{"index": 0}]},
        {"data": [{"index": 5, "embedding": [1.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": [0.0, 0.0]}]},
        {"data": [{"index": 0, "embedding": ["a", "b"]}]},
    ],
    ids=range(6),
)
async def test_answers_that_make_no_sense_are_retryable(server: ModelServer, build: Build, body: Any) -> None:
    server.on(Raw(json.dumps(body)))
    with pytest.raises(Retryable):
        await build(2).embed(["Ana"])


async def test_limits_and_faults_are_the_chat_clients(
    server: ModelServer, build: Build, observer: RecordingObserver
) -> None:
    server.on(Status(429, retry_after=3), times=1)
    server.on(Status(500), times=1)
    assert len(await build().embed(["Ana"])) == 1
    assert observer.outcomes == {("embed", "429"): 1, ("embed", "500"): 1, ("embed", "ok"): 1}


async def test_rejections(server: ModelServer, build: Build) -> None:
    server.on(Status(400, "model 'bge-m3' does not exist"), times=1)
    server.on(Status(404, "nothing here"), times=1)
    server.on(Status(413, "input is too long"), times=1)
    for expected in (SettingError, SettingError, Poison):
        with pytest.raises(expected):
            await build().embed(["Ana"])
