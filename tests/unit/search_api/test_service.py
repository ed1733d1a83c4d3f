"""The surface: health, readiness, metrics, OpenAPI, errors of routing."""

from __future__ import annotations

import asyncio

import httpx
import pytest
from prometheus_client import CollectorRegistry

from pipeline.errors import Retryable
from search_api.app import create_app
from search_api.metrics import SearchMetrics
from search_api.observer import MetricsObserver
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
