"""Read-your-writes: waiting for an episode, its bound, and what others see of it."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pipeline.graph.search import Scope
from pipeline.model.episode import EpisodeState
from tests.unit.search_api.stored import stored, triple

ASK = {"query": "ana", "group_ids": ["g"]}


class Watch:
    """Counts the reads of episodes, and lets tests wait for the next one."""

    def __init__(self, graph):
        self._read = graph.state
        self.reads = 0
        self.seen = asyncio.Event()
        graph.state = self

    async def __call__(self, group_id, episode_id):
        self.reads += 1
        self.seen.set()
        return await self._read(group_id, episode_id)


def advance(graph, state, reason=None):
    """Brings the only episode to a state."""
    graph.items[Scope.episodes] = [replace(graph.items[Scope.episodes][0], state=state, reason=reason)]


@pytest.mark.parametrize("path", ["/v1/search", "/v1/context"])
@pytest.mark.parametrize("final", ["committed", "skipped", "dead"])
async def test_the_answer_comes_when_the_episode_is_through(connect, graph, path, final):
    watch = Watch(graph)
    graph.add_fact("g", "ana knows ben", "Ana", "Ben")
    client = connect()
    asked = asyncio.create_task(client.post(path, json={**ASK, "wait_for": "e1", "wait_for_seconds": 30}))
    await asyncio.wait_for(watch.seen.wait(), 10)
    assert graph.plans == []
    graph.add_episode("g", "e1", "ana knows ben", state=EpisodeState.extracted)
    watch.seen.clear()
    await asyncio.wait_for(watch.seen.wait(), 10)
    assert graph.plans == []
    advance(graph, EpisodeState(final), "the model refused" if final == "dead" else None)
    reply = await asyncio.wait_for(asked, 10)
    assert reply.status_code == 200
    assert len(graph.plans) == 1
    found = reply.json()
    assert len(found["facts"]) == 1
    told = ["wait_for: episode 'e1' is dead: the model refused"] if final == "dead" else []
    assert found["degraded"] == told


@pytest.mark.parametrize(("state", "told"), [(None, "not there"), ("resolved", "only resolved")])
async def test_after_the_bound_the_answer_says_that_it_may_be_without(connect, graph, state, told):
    graph.add_fact("g", "ana knows ben", "Ana", "Ben")
    if state:
        graph.add_episode("g", "e1", "x", state=EpisodeState(state))
    client = connect()
    reply = await client.post("/v1/search", json={**ASK, "wait_for": "e1", "wait_for_seconds": 0.05})
    assert reply.status_code == 200
    assert len(reply.json()["facts"]) == 1
    assert reply.json()["degraded"] == [f"wait_for: episode 'e1' is {told} after 0.05 s"]
    metrics = (await client.get("/metrics")).text
    assert 'factstream_search_degraded_total{part="wait_for"} 1.0' in metrics


async def test_an_episode_of_another_group_is_not_there(connect, graph):
    graph.add_episode("g2", "e1", "x")
    reply = await connect().post("/v1/search", json={**ASK, "wait_for": "e1", "wait_for_seconds": 0.05})
    assert "not there" in reply.json()["degraded"][0]


async def test_who_waits_holds_no_place(connect, graph):
    watch = Watch(graph)
    client = connect(max_concurrent=1, max_waiting=0)
    waiting = [
        asyncio.create_task(client.post("/v1/search", json={**ASK, "wait_for": "e1", "wait_for_seconds": 30}))
    ]
    await asyncio.wait_for(watch.seen.wait(), 10)
    assert "factstream_search_in_flight 0.0" in (await client.get("/metrics")).text
    assert "factstream_search_awaiting 1.0" in (await client.get("/metrics")).text
    assert (await client.post("/v1/search", json=ASK)).status_code == 200
    graph.add_episode("g", "e1", "x")
    (reply,) = await asyncio.wait_for(asyncio.gather(*waiting), 10)
    assert reply.status_code == 200
    assert "factstream_search_awaiting 0.0" in (await client.get("/metrics")).text


async def test_the_deadline_does_not_count_the_waiting(connect, graph):
    client = connect(request_seconds=0.2)
    graph.add_fact("g", "ana knows ben", "Ana", "Ben")
    reply = await client.post("/v1/search", json={**ASK, "wait_for": "e1", "wait_for_seconds": 0.5})
    assert reply.status_code == 200
    assert reply.json()["degraded"]


async def test_more_than_may_wait_are_answered_at_once(connect, graph):
    watch = Watch(graph)
    client = connect(max_awaiting=1)
    first = asyncio.create_task(
        client.post("/v1/search", json={**ASK, "wait_for": "e1", "wait_for_seconds": 30})
    )
    await asyncio.wait_for(watch.seen.wait(), 10)
    reply = await client.post("/v1/search", json={**ASK, "wait_for": "e2", "wait_for_seconds": 30})
    assert reply.json()["degraded"] == ["wait_for: too many requests wait already; this one did not"]
    graph.add_episode("g", "e1", "x")
    assert (await asyncio.wait_for(first, 10)).json()["degraded"] == []


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"wait_for": "e", "group_ids": ["g", "g2"]}, "wait_for"),
        ({"wait_for": ""}, "wait_for"),
        ({"wait_for": 7}, "wait_for"),
        ({"wait_for": "e", "wait_for_seconds": 0}, "wait_for_seconds"),
        ({"wait_for": "e", "wait_for_seconds": 31}, "wait_for_seconds"),
        ({"wait_for": "e", "wait_for_seconds": "5"}, "wait_for_seconds"),
        ({"wait_until": "e"}, "wait_until"),
    ],
)
async def test_wrong_fields_are_named(client, graph, fields, path):
    reply = await client.post("/v1/context", json={**ASK, **fields})
    assert reply.status_code == 422
    assert [one["path"] for one in reply.json()["errors"]] == [path]
    assert graph.plans == []


async def test_a_foreign_group_is_not_waited_for(connect, graph):
    from pipeline.access import hash_key

    watch = Watch(graph)
    client = connect(api_keys={hash_key("k"): ["g2"]})
    reply = await client.post("/v1/search", json={**ASK, "wait_for": "e1"}, headers={"X-API-Key": "k"})
    assert reply.status_code == 403
    assert watch.reads == 0


async def test_over_a_real_store_an_agent_reads_what_it_just_wrote(tmp_path):
    import httpx

    async with (
        stored(tmp_path / "graph.db") as (writer, app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://search") as client,
    ):
        begun = await writer.begin("g", "e1", triple("Ana", "WORKS_AT", "Acme"))
        body = {"query": "Where does Ana work?", "group_ids": ["g"], "wait_for": "e1", "wait_for_seconds": 30}
        asked = asyncio.create_task(client.post("/v1/search", json=body))
        await writer.finish(*begun)
        found = (await asyncio.wait_for(asked, 20)).json()
        assert [fact["target"]["name"] for fact in found["facts"]] == ["Acme"]
        assert found["degraded"] == []
