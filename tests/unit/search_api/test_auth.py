"""API keys: who may read what, and that a key is never seen."""

from __future__ import annotations

import logging

import pytest

from pipeline.access import hash_key
from pipeline.errors import SettingError
from search_api.app import create_app
from search_api.settings import ApiSettings

ASK = {"query": "ana", "group_ids": ["g"]}
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
