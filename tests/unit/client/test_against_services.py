"""Both clients against a real gateway and search service."""

from __future__ import annotations

import inspect
from datetime import UTC, datetime
from pathlib import Path

import pytest

import factstream
from factstream.client import (
    EpisodesFailed,
    Forbidden,
    Invalid,
    NotFound,
    NotSettled,
    Unauthorized,
    Unreachable,
)
from factstream.client.retrying import RetryPolicy
from factstream.embedded import EmbeddedServer, EmbeddedUrls
from pipeline.access import hash_key
from pipeline.model.event import parse_event
from tests.unit.client.conftest import settings, works_at

ONCE = RetryPolicy(seconds=0)


async def test_from_publishing_to_the_answer(urls: EmbeddedUrls) -> None:
    async with factstream.AsyncClient(urls.search, urls.gateway) as client:
        ids = await client.publish([works_at(1, id="a/1"), works_at(2, thread_id="t")])
        assert ids[0] == "a/1"
        settled = await client.wait_for(ids, "g")
        assert [(one.id, one.state.value) for one in settled] == [(one, "committed") for one in ids]
        found = await client.search("Where does P1 work?", group_ids="g", limit=1)
        assert found.facts[0].target.name == "C1"
        fact = found.facts[0]
        assert (await client.fact(fact.id, "g")).fact == fact.fact
        assert (await client.entity(fact.source.id, "g")).name == "P1"
        assert [one.id for one in await client.timeline(fact.source.id, "g")] == [fact.id]
        assert await client.timeline(fact.source.id, "g", as_of=datetime(2023, 1, 1, tzinfo=UTC)) == ()
        assert (await client.episode("a/1", "g")).facts[0].id == fact.id
        assert [one.id for one in await client.episodes("g", thread_id="t")] == [ids[1]]
        text = await client.context("P1", group_ids=["g"], max_tokens=500, scopes=["facts", "communities"])
        assert "works at C1" in text.context
        (community, *_) = text.communities
        assert len((await client.community(community, "g")).members) > 1
        assert "hybrid_rrf" in {one.name for one in await client.recipes()}
        assert sorted([one.id async for one in client.iter_episodes("g")]) == sorted(ids)


async def test_pages_of_one_time_lose_nothing(urls: EmbeddedUrls) -> None:
    async with factstream.AsyncClient(urls.search, urls.gateway) as client:
        events = [works_at(number, reference_time="2024-05-01") for number in range(3)]
        ids = await client.publish(events)
        await client.wait_for(ids, "g")
        found, cursor = [], None
        for _ in ids:
            page = await client.episode_page("g", limit=1, cursor=cursor)
            found += [one.id for one in page.episodes]
            cursor = page.next
        assert sorted(found) == sorted(ids)
        last = await client.episode_page("g", limit=1, cursor=cursor)
        assert (last.episodes, last.next) == ((), None)
        with pytest.raises(Invalid, match="cursor"):
            await client.episode_page("g", cursor="nonsense")


def test_the_blocking_client_does_the_same(blocking_urls: EmbeddedUrls) -> None:
    with factstream.Client(blocking_urls.search, blocking_urls.gateway) as client:
        ids = client.publish(parse_event(works_at(3)))
        answer = client.search("P3", group_ids="g", wait_for=ids[0], wait_for_seconds=30.0)
        assert answer.degraded == ()
        assert answer.facts[0].target.name == "C3"
        assert client.wait_for(ids[0], "g")[0].state.value == "committed"
        assert client.context("P3", group_ids="g", as_of=None).facts == (answer.facts[0].id,)
        assert [one.id for one in client.iter_episodes("g")] == ids


def test_both_clients_have_the_same_methods() -> None:
    def shown(kind: type) -> dict[str, list[str]]:
        return {
            name: [*inspect.signature(method).parameters]
            for name, method in inspect.getmembers(kind, inspect.isfunction)
            if not name.startswith("_") and "close" not in name
        }

    assert shown(factstream.Client) == shown(factstream.AsyncClient)


async def test_problems_are_exceptions_with_their_details(urls: EmbeddedUrls) -> None:
    async with factstream.AsyncClient(urls.search, urls.gateway) as client:
        with pytest.raises(Invalid) as invalid:
            await client.search("x", group_ids="g", limit=0)
        assert (invalid.value.status, invalid.value.errors[0].path) == (422, "limit")
        with pytest.raises(Invalid) as refused:
            await client.publish([works_at(1), {**works_at(2), "colour": "red"}])
        assert refused.value.errors[0].path == "1.colour"
        with pytest.raises(NotFound, match="no fact 'x/y'"):
            await client.fact("x/y", "g")
        with pytest.raises(Invalid):
            await client.search("x", group_ids="g", filters={"colour": "red"})
        with pytest.raises(NotSettled) as pending:
            await client.wait_for(["none"], "g", seconds=0.1)
        assert pending.value.pending == ("none",)


async def test_keys_are_sent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = settings(api_keys={hash_key("k"): ["g"]})
    async with EmbeddedServer(given, tmp_path / "memory.db").running() as (urls, _):
        async with factstream.AsyncClient(urls.search, urls.gateway) as client:
            with pytest.raises(Unauthorized):
                await client.publish(works_at(1))
            with pytest.raises(Unauthorized):
                await client.search("x", group_ids="g")
        async with factstream.AsyncClient(urls.search, urls.gateway, api_key="k") as client:
            await client.wait_for(await client.publish(works_at(1)), "g")
            with pytest.raises(Forbidden):
                await client.search("x", group_ids="h")
            with pytest.raises(Forbidden):
                await client.publish(works_at(1, group_id="h"))
        monkeypatch.setenv("FACTSTREAM_API_KEY", "k")
        async with factstream.AsyncClient(urls.search, urls.gateway) as client:
            assert (await client.search("P1", group_ids="g")).facts


async def test_who_does_not_answer_is_named() -> None:
    async with factstream.AsyncClient("http://127.0.0.1:9", retry=ONCE, trust_env=False) as client:
        with pytest.raises(Unreachable, match=r"127\.0\.0\.1:9 does not answer"):
            await client.search("x", group_ids="g")


def test_a_dead_episode_is_an_error_with_its_reason() -> None:
    from factstream.client.waiting import Settling
    from search_api.answers import EpisodeAnswer

    answer = EpisodeAnswer.model_validate(
        {
            "id": "e1",
            "group_id": "g",
            "source": "text",
            "content": "x",
            "reference_time": "2024-01-01",
            "thread_id": None,
            "speaker": None,
            "source_description": None,
            "metadata": {},
            "state": "dead",
            "reason": "the model refused",
            "facts": [],
            "entities": [],
            "usage": {},
        }
    )
    settling = Settling("e1", 1)
    assert settling.saw(answer) == 0
    with pytest.raises(EpisodesFailed, match="the model refused") as failed:
        settling.answers()
    assert failed.value.episodes == (answer,)
