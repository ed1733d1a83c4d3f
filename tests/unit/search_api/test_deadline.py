"""The deadline of a request: 504, with the work cancelled and the place free again."""

from __future__ import annotations

import asyncio

import httpx
import pytest

ASK = {"query": "ana", "group_ids": ["g"]}


class Endless:
    """Stands in for a method of the reader: never answers, and knows whether it was begun and is still running."""

    def __init__(self):
        self.begun = self.running = 0

    async def __call__(self, *_, **__):
        self.begun += 1
        self.running += 1
        try:
            await asyncio.Event().wait()
        finally:
            self.running -= 1


@pytest.mark.parametrize(
    ("method", "path", "reads"),
    [
        ("POST", "/v1/search", "search"),
        ("POST", "/v1/context", "search"),
        ("GET", "/v1/episodes/e?group_id=g", "episode"),
        ("GET", "/v1/groups/g/episodes", "episodes"),
        ("GET", "/v1/entities/e/facts?group_id=g", "entity_facts"),
    ],
)
async def test_what_takes_too_long_is_cancelled_and_gives_its_place_back(connect, graph, method, path, reads):
    endless = Endless()
    client = connect(request_seconds=0.1, max_concurrent=1, max_waiting=0)
    body = ASK if method == "POST" else None
    answers = getattr(graph, reads)
    setattr(graph, reads, endless)
    tries = 0
    # On a busy machine the time may be over before the store was asked.
    while endless.begun < 2 and tries < 100:
        tries += 1
        reply = await asyncio.wait_for(client.request(method, path, json=body), 10)
        assert reply.status_code == 504
        assert reply.headers["content-type"] == "application/problem+json"
        assert "no answer within 0.1 s" in reply.json()["detail"]
        assert endless.running == 0
    assert endless.begun == 2
    setattr(graph, reads, answers)
    assert f'rejected_total{{reason="deadline"}} {tries}.0' in (await client.get("/metrics")).text
    served = connect()
    assert (await served.request(method, path, json=body)).status_code in (200, 404)


async def test_a_timeout_inside_the_store_is_no_deadline(connect, graph):
    graph.trouble = TimeoutError("of its own")
    assert (await connect().post("/v1/search", json=ASK)).status_code == 500


async def test_an_answer_that_is_on_its_way_is_not_cut(connect, graph):
    graph.add_fact("g", "ana knows ben", "Ana", "Ben")
    app = connect(request_seconds=0.1)._transport.app
    begun, received, sent = asyncio.Event(), asyncio.Event(), []

    async def receive():
        return {"type": "http.request", "body": b'{"query": "ana", "group_ids": ["g"]}', "more_body": False}

    async def slow(message):
        sent.append(message["type"])
        begun.set()
        await received.wait()

    scope = httpx_scope()
    running = asyncio.create_task(app(scope, receive, slow))
    await asyncio.wait_for(begun.wait(), 10)
    # Far longer than the deadline; the receiver alone decides when it goes on.
    done, _ = await asyncio.wait({running}, timeout=0.5)
    assert not done
    received.set()
    await asyncio.wait_for(running, 10)
    assert sent == ["http.response.start", "http.response.body"]


def httpx_scope():
    request = httpx.Request("POST", "http://search/v1/search", headers={"Content-Type": "application/json"})
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "headers": [(key.lower(), value) for key, value in request.headers.raw],
        "scheme": "http",
        "path": "/v1/search",
        "raw_path": b"/v1/search",
        "query_string": b"",
        "server": ("search", 80),
        "client": ("127.0.0.1", 1),
        "root_path": "",
    }
