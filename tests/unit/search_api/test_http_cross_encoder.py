"""The rerank endpoint: what is sent, what is read, and every way in which it fails."""

from __future__ import annotations

import json

import httpx
import pytest

from pipeline.errors import Retryable
from search_api.retrieval.http_cross_encoder import HttpCrossEncoder


def encoder(handler):
    transport = httpx.MockTransport(handler)
    return HttpCrossEncoder("http://rerank/v1/rerank", "a-model", "a-key", transport=transport)


async def test_scores_come_back_in_the_order_of_the_texts():
    seen = []

    def handler(request):
        seen.append((request.headers["authorization"], json.loads(request.content)))
        results = [{"index": 1, "relevance_score": 0.9}, {"index": 0, "relevance_score": 0.2}]
        return httpx.Response(200, json={"results": results})

    model = encoder(handler)
    assert await model.score("q", ["a", "b"]) == [0.2, 0.9]
    await model.close()
    assert seen == [
        ("Bearer a-key", {"model": "a-model", "query": "q", "documents": ["a", "b"], "top_n": 2}),
    ]


@pytest.mark.parametrize(
    "answer",
    [
        {"results": [{"index": 0, "relevance_score": 0.2}]},
        {"results": [{"index": 0, "relevance_score": 0.2}, {"index": 5, "relevance_score": 0.2}]},
        {"results": [{"index": 0, "relevance_score": None}, {"index": 1, "relevance_score": 0.2}]},
        {"results": None},
        {"error": "no"},
        [],
    ],
)
async def test_an_answer_without_a_score_for_each_text_is_no_answer(answer):
    with pytest.raises(Retryable, match="no score for each text"):
        await encoder(lambda _: httpx.Response(200, json=answer)).score("q", ["a", "b"])


async def test_an_error_status_is_named_and_the_key_is_not():
    with pytest.raises(Retryable, match="answered 429") as caught:
        await encoder(lambda _: httpx.Response(429, text="slow down a-key")).score("q", ["a"])
    assert "a-key" not in str(caught.value)


async def test_an_endpoint_that_cannot_be_reached():
    def handler(request):
        raise httpx.ConnectTimeout("no", request=request)

    with pytest.raises(Retryable, match="ConnectTimeout"):
        await encoder(handler).score("q", ["a"])


async def test_text_that_is_no_json():
    with pytest.raises(Retryable, match="no score for each text"):
        await encoder(lambda _: httpx.Response(200, text="<html>")).score("q", ["a"])
