"""The start: the store is opened for as long as it takes, and closed at the end."""

from __future__ import annotations

import asyncio

import httpx
import pytest

from pipeline.errors import Retryable, SettingError
from search_api.app import create_app
from search_api.opening import Opening
from search_api.settings import ApiSettings

ASK = {"query": "ana", "group_ids": ["g"]}


async def test_the_service_opens_and_closes_the_store(graph, encoder):
    app = create_app(ApiSettings(), graph, cross_encoder=encoder)
    async with app.router.lifespan_context(app):
        assert (graph.opened, graph.closed) == (1, 0)
    assert (graph.closed, encoder.closed) == (1, 1)


async def test_a_store_that_is_down_at_the_start_is_tried_again(graph):
    graph.trouble = Retryable("connection refused")
    opening = Opening(graph, first_pause=0.001, longest_pause=0.002)
    await opening.start()
    with pytest.raises(Retryable, match="connection refused"):
        opening.check()
    graph.trouble = None
    async with asyncio.timeout(10):
        await graph.was_opened.wait()
    # The opener has not run on since the event was set: let it.
    await asyncio.sleep(0)
    opening.check()
    await opening.stop()


async def test_until_the_store_is_open_the_service_is_up_but_not_ready(graph):
    graph.trouble = Retryable("connection refused")
    app = create_app(ApiSettings(), graph)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://search") as client,
    ):
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.post("/v1/search", json=ASK)).status_code == 503
        assert (await client.get("/v1/facts/x", params={"group_id": "g"})).status_code == 503
        assert (await client.get("/metrics")).status_code == 200


async def test_a_wrong_setting_ends_the_start(graph):
    graph.trouble = SettingError("embedding dimension: stored 384, configured 512")
    with pytest.raises(SettingError, match="dimension"):
        await Opening(graph).start()
