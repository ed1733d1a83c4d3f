"""What is too much is refused: bodies, requests at a time, requests that wait."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

ASK = {"query": "ana", "group_ids": ["g"]}


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
