"""The surface: health, readiness, metrics, OpenAPI, errors of routing, keys, limits."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager

import httpx
import pytest
from prometheus_client import CollectorRegistry

from pipeline.errors import Retryable, SettingError
from search_api.app import create_app
from search_api.auth import hash_key
from search_api.metrics import SearchMetrics
from search_api.observer import MetricsObserver
from search_api.opening import Opening
from search_api.settings import ApiSettings

ASK = {"query": "ana", "group_ids": ["g"]}


async def test_health_is_the_process_and_readiness_the_store(client, graph):
    assert (await client.get("/healthz")).json() == {"status": "ok"}
    assert (await client.get("/readyz")).json() == {"status": "ready"}
    graph.trouble = Retryable("an index is being built")
    assert (await client.get("/healthz")).status_code == 200
    reply = await client.get("/readyz")
    assert reply.status_code == 503
    assert "an index is being built" in reply.json()["detail"]


async def test_a_store_that_never_answers_is_not_ready(connect, graph):
    graph.ping = asyncio.Event().wait
    reply = await connect(ready_timeout_seconds=0.01).get("/readyz")
    assert reply.status_code == 503


async def test_openapi_describes_every_path_with_examples_and_problems(client):
    described = (await client.get("/openapi.json")).json()
    assert {
        "/v1/search",
        "/v1/context",
        "/v1/recipes",
        "/v1/episodes/{episode_id}",
        "/v1/groups/{group}/episodes",
        "/v1/facts/{fact_id}",
        "/v1/entities/{entity_id}",
        "/v1/entities/{entity_id}/facts",
        "/v1/communities/{community_id}",
    } <= described["paths"].keys()
    search = described["paths"]["/v1/search"]["post"]
    assert "application/problem+json" in search["responses"]["422"]["content"]
    request = described["components"]["schemas"]["SearchRequest"]
    assert request["examples"][0]["query"] == "Where does Ana work?"
    assert request["additionalProperties"] is False


@pytest.mark.parametrize(("method", "path", "status"), [("GET", "/nowhere", 404), ("GET", "/v1/search", 405)])
async def test_errors_of_routing_are_problems_too(client, method, path, status):
    reply = await client.request(method, path)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json()["status"] == status


async def test_metrics_by_route_scopes_and_reason(graph, embedder):
    metrics = SearchMetrics(CollectorRegistry())
    app = create_app(ApiSettings(max_body_bytes=200), graph, embedder, metrics=metrics)
    graph.add_fact("g", "Ana works at Acme", "ana", "acme", id="f1")
    observer = MetricsObserver(metrics)
    observer.graph_round_trip("search", 0.02)
    observer.embedded(1, 0, 0.01)
    observer.event("odd", 2)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://search") as client:
        await client.post("/v1/search", json={**ASK, "scopes": ["entities", "facts"]})
        await client.post("/v1/search", json={**ASK, "reranker": "cross_encoder"})
        await client.get("/v1/facts/f1", params={"group_id": "g"})
        await client.get("/v1/facts/f2", params={"group_id": "g"})
        await client.get("/nowhere")
        await client.post("/v1/search", content=b"x" * 201)
        reply = await client.get("/metrics")
    assert reply.headers["content-type"].startswith("text/plain")
    assert "# TYPE factstream_search_request_seconds histogram" in reply.text

    def sample(metric, /, **labels):
        return metrics.registry.get_sample_value(metric, labels)

    requests = "factstream_search_request_seconds_count"
    assert sample(requests, route="/v1/search", status="200") == 2
    assert sample(requests, route="/v1/facts/{fact_id}", status="200") == 1
    assert sample(requests, route="/v1/facts/{fact_id}", status="404") == 1
    assert sample(requests, route="unmatched", status="404") == 1
    assert sample("factstream_search_seconds_count", scopes="facts+entities") == 1
    assert sample("factstream_search_results_sum", scope="facts") == 2
    assert sample("factstream_search_degraded_total", part="cross_encoder") == 1
    assert sample("factstream_search_rejected_total", reason="body_too_large") == 1
    assert sample("factstream_search_graph_round_trip_seconds_count", operation="search") == 1
    assert sample("factstream_search_embedding_seconds_count") == 1
    assert sample("factstream_search_events_total", name="odd") == 2
    assert sample("factstream_search_in_flight") == 0
    assert 'f1"' not in reply.text


async def test_two_services_in_one_process_do_not_share_metrics(graph):
    assert create_app(ApiSettings(), graph) is not create_app(ApiSettings(), graph)


# Keys


KEYS = {hash_key("one-group"): ("g",), hash_key("every-group"): "*"}


@pytest.mark.parametrize(
    ("headers", "group", "status"),
    [
        ({}, "g", 401),
        ({"Authorization": "Bearer wrong"}, "g", 401),
        ({"Authorization": "Basic one-group"}, "g", 401),
        ({"Authorization": "Bearer one-group"}, "g", 200),
        ({"X-API-Key": "one-group"}, "g", 200),
        ({"Authorization": "Bearer one-group"}, "g2", 403),
        ({"Authorization": "Bearer every-group"}, "g2", 200),
    ],
)
async def test_keys_open_their_groups_only(connect, graph, headers, group, status):
    client = connect(api_keys=KEYS)
    reply = await client.post("/v1/search", json={**ASK, "group_ids": ["g", group]}, headers=headers)
    assert reply.status_code == status
    listed = await client.get(f"/v1/groups/{group}/episodes", headers=headers)
    assert listed.status_code == status
    read = await client.get("/v1/facts/x", params={"group_id": group}, headers=headers)
    assert read.status_code == (404 if status == 200 else status)
    if status == 401:
        assert reply.headers["www-authenticate"].startswith("Bearer")
    if status != 200:
        assert reply.headers["content-type"] == "application/problem+json"
        assert graph.plans == []


async def test_operators_need_no_key(connect):
    client = connect(api_keys=KEYS)
    for path in ("/healthz", "/readyz", "/metrics", "/openapi.json"):
        assert (await client.get(path)).status_code == 200
    assert (await client.get("/v1/recipes")).status_code == 401


async def test_a_key_is_never_logged(connect, graph, caplog):
    caplog.set_level(logging.DEBUG, logger="search_api")
    graph.trouble = ZeroDivisionError("boom")
    client = connect(api_keys=KEYS)
    for key in ("one-group", "a-wrong-key"):
        reply = await client.post("/v1/search", json=ASK, headers={"Authorization": f"Bearer {key}"})
        assert reply.status_code in (401, 500)
        assert key not in caplog.text
        assert key not in reply.text
    assert "boom" in caplog.text


def test_a_service_that_is_open_to_the_network_needs_keys(graph):
    for host in ("0.0.0.0", "::", "", "search.example", "10.0.0.5"):
        with pytest.raises(SettingError, match="api_keys"):
            create_app(ApiSettings(host=host), graph)
        create_app(ApiSettings(host=host, api_keys=KEYS), graph)
    for host in ("127.0.0.1", "::1", "localhost", "127.8.8.8"):
        create_app(ApiSettings(host=host), graph)


@pytest.mark.parametrize("keys", [{"plain-key": "*"}, {hash_key("k"): ()}, {hash_key("k"): "g"}])
def test_malformed_keys_stop_the_start(graph, keys):
    with pytest.raises(SettingError, match="api_keys") as caught:
        create_app(ApiSettings(api_keys=keys), graph)
    assert "plain-key" not in str(caught.value)


# Limits


async def test_a_body_over_the_limit_is_a_413_whether_or_not_its_length_is_declared(connect, graph):
    client = connect()
    body = b'{"query": "' + b"x" * (1024 * 1024) + b'", "group_ids": ["g"]}'

    async def pieces():
        for start in range(0, len(body), 65536):
            yield body[start : start + 65536]

    for content in (body, pieces()):
        reply = await client.post("/v1/search", content=content, headers={"Content-Type": "application/json"})
        assert reply.status_code == 413
        assert reply.headers["content-type"] == "application/problem+json"
    big = {**ASK, "query": "x" * (1024 * 1024 - 100)}
    assert (await client.post("/v1/search", json=big)).status_code == 200


@asynccontextmanager
async def stuck(graph, client, count):
    """So many searches inside the store, which answers them at the end."""
    release, inside = asyncio.Event(), asyncio.Semaphore(0)
    answer = graph.search

    async def wait(plan):
        inside.release()
        await release.wait()
        return await answer(plan)

    graph.search = wait
    running = [asyncio.create_task(client.post("/v1/search", json=ASK)) for _ in range(count)]
    try:
        yield running, inside
    finally:
        release.set()
        replies = await asyncio.gather(*running)
        assert {reply.status_code for reply in replies} <= {200, 503}


async def test_more_than_the_places_and_the_queue_are_sent_away(connect, graph):
    client = connect(max_concurrent=1, max_waiting=1, max_wait_seconds=30)
    async with stuck(graph, client, 3) as (running, inside):
        await inside.acquire()
        done, waiting = await asyncio.wait(running, timeout=10, return_when=asyncio.FIRST_COMPLETED)
        (refused,) = [task.result() for task in done]
        assert refused.status_code == 503
        assert refused.headers["retry-after"] == "1"
        assert len(waiting) == 2
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 200
    assert sorted(task.result().status_code for task in running) == [200, 200, 503]
    assert (await client.post("/v1/search", json=ASK)).status_code == 200


async def test_who_waits_too_long_is_sent_away(connect, graph):
    client = connect(max_concurrent=1, max_waiting=5, max_wait_seconds=0.01)
    async with stuck(graph, client, 1) as (_, inside):
        await inside.acquire()
        reply = await client.post("/v1/search", json=ASK)
        assert reply.status_code == 503
        assert "busy" in reply.json()["detail"]


# The start


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
