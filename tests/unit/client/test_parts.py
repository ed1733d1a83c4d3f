"""The parts of the clients without a network: retries, ids, batches, pages, what is sent."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from factstream import Client
from factstream.client import ApiError, BadAnswer, ClientError, Unavailable, Unreachable
from factstream.client.paging import PAGE, Pages
from factstream.client.publishing import MAX_BYTES, MAX_EVENTS, batches
from factstream.client.retrying import RetryPolicy
from search_api.answers import EpisodeList, EpisodeSummary
from streams.gateway.intake import records_of
from tests.unit.client.conftest import works_at

NOW = datetime(2024, 5, 1, tzinfo=UTC)
QUICK = RetryPolicy(seconds=30, first=0.001, longest=0.002)


def scripted(*steps: Any) -> tuple[Client, list[httpx.Request]]:
    """A client whose network answers, or fails, step by step."""
    left, seen = list(steps), []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        step = left.pop(0)
        if isinstance(step, Exception):
            raise step
        return step

    return Client(transport=httpx.MockTransport(answer), retry=QUICK, api_key="k"), seen


def busy(**headers: str) -> httpx.Response:
    problem = {"title": "Service Unavailable", "status": 503, "detail": "busy"}
    return httpx.Response(503, json=problem, headers={"Retry-After": "0", **headers})


def accepted(*ids: str) -> httpx.Response:
    return httpx.Response(202, json={"ids": ids, "later": "unknown fields are ignored"})


def test_publishing_goes_on_through_outages_and_always_sends_the_same() -> None:
    client, seen = scripted(
        httpx.ConnectError("refused"),
        busy(),
        httpx.ReadTimeout("slow"),
        httpx.Response(504, text="from a proxy"),
        httpx.Response(502, text="from a proxy"),
        accepted("x"),
    )
    assert client.publish(works_at(1)) == ["x"]
    assert len(seen) == 6
    assert len({request.content for request in seen}) == 1
    assert json.loads(seen[0].content)[0]["id"].startswith("ep-")
    assert seen[0].headers["authorization"] == "Bearer k"


def test_what_is_refused_for_good_is_not_repeated() -> None:
    for status in (400, 401, 403, 404, 413, 422, 500):
        client, seen = scripted(httpx.Response(status, json={"title": "t", "status": status, "detail": "d"}))
        with pytest.raises(ApiError, match=f"{status} t: d"):
            client.publish(works_at(1))
        assert len(seen) == 1


def test_a_search_past_its_deadline_is_not_repeated() -> None:
    client, seen = scripted(httpx.Response(504, json={"title": "t", "status": 504, "detail": "d"}))
    with pytest.raises(Unavailable):
        client.search("x", group_ids="g")
    assert len(seen) == 1


def test_a_pause_beyond_the_time_left_ends_it() -> None:
    client, seen = scripted(busy(**{"Retry-After": "3600"}))
    with pytest.raises(Unavailable, match="busy"):
        client.search("x", group_ids="g")
    assert len(seen) == 1
    client, seen = scripted(httpx.UnsupportedProtocol("ftp"))
    with pytest.raises(Unreachable, match="ftp"):
        client.search("x", group_ids="g")


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (httpx.Response(200, text="<html>welcome</html>"), BadAnswer),
        (httpx.Response(200, json={"facts": 7}), BadAnswer),
        (httpx.Response(418, text="teapot"), ApiError),
    ],
)
def test_what_is_no_factstream_is_told(answer: httpx.Response, kind: type[Exception]) -> None:
    client, _ = scripted(answer)
    with pytest.raises(kind):
        client.search("x", group_ids="g")


@pytest.mark.parametrize(
    "event",
    [
        works_at(1, reference_time="2024-01-02T03:04:05+02:00"),
        works_at(1),
        {"group_id": "ü", "source": "text", "content": "北大 \u00e9", "reference_time": "2024-01"},
        {"group_id": "g", "source": "json", "content": {"b": [1, 2.5, None], "a": "x"}, "id": None},
        {
            "group_id": "g",
            "source": "text",
            "content": "x",
            "reference_time": NOW + timedelta(microseconds=1),
        },
    ],
)
def test_derived_ids_are_those_of_the_gateway(event: dict[str, Any]) -> None:
    (batch,) = batches(event, now=NOW)
    sent = json.loads(batch[0])
    bare = {**sent, "id": None}
    (record,) = records_of(json.dumps(bare).encode(), lambda: NOW)
    assert record.id == sent["id"]
    (mine,) = records_of(b"[" + batch[0] + b"]", lambda: NOW + timedelta(days=1))
    assert mine.id == sent["id"]
    assert json.loads(mine.value)["reference_time"] == sent["reference_time"]


@pytest.mark.parametrize(
    "event",
    [{"source": "text"}, {"group_id": "g", "content": "x", "reference_time": "soon"}, works_at(1, id="own")],
)
def test_other_events_are_sent_as_they_are(event: dict[str, Any]) -> None:
    ((sent,),) = batches(event, now=NOW)
    assert json.loads(sent) == event


def test_many_events_go_in_several_requests() -> None:
    made = list(batches((works_at(number) for number in range(MAX_EVENTS * 2 + 1)), now=NOW))
    assert [len(batch) for batch in made] == [MAX_EVENTS, MAX_EVENTS, 1]
    big = {"group_id": "g", "source": "text", "content": "x" * (MAX_BYTES // 3)}
    assert [len(batch) for batch in batches([big] * 5, now=NOW)] == [2, 2, 1]
    assert list(batches([])) == []


def summary(number: int, moment: datetime) -> EpisodeSummary:
    return EpisodeSummary.model_construct(id=f"e{number}", reference_time=moment)


def paged(stored: list[EpisodeSummary]) -> list[str]:
    """All ids, by a service that tells those of one time apart by their place."""
    ordered = sorted(stored, key=lambda one: one.reference_time, reverse=True)
    pages, found = Pages(None), []
    while not pages.done:
        start = int(pages.cursor or 0)
        page = tuple(ordered[start : start + PAGE])
        behind = str(start + PAGE) if len(page) == PAGE else None
        found += [one.id for one in pages.take(EpisodeList.model_construct(episodes=page, next=behind))]
    return found


@pytest.mark.parametrize(
    "moment",
    [
        lambda number: NOW + timedelta(seconds=number),
        lambda number: NOW + timedelta(seconds=number // 7),
        lambda number: NOW + timedelta(seconds=number // 99),
        lambda number: NOW + timedelta(microseconds=number // 2),
        lambda number: NOW,
    ],
)
@pytest.mark.parametrize("count", [0, 1, 99, 100, 101, 350])
def test_paging_finds_each_episode_once(count: int, moment: Callable[[int], datetime]) -> None:
    stored = [summary(number, moment(number)) for number in range(count)]
    assert sorted(paged(stored)) == sorted(one.id for one in stored)


def test_a_service_without_cursors_is_an_error_and_no_loss() -> None:
    full = EpisodeList.model_construct(episodes=tuple(summary(number, NOW) for number in range(PAGE)))
    with pytest.raises(ClientError, match="older than this client"):
        Pages(None).take(full)


def test_the_first_page_is_asked_for_by_time_and_the_others_by_cursor() -> None:
    one = {
        "id": "e1",
        "group_id": "g",
        "source": "text",
        "content": "x",
        "reference_time": "2024-05-01T00:00:00Z",
        "thread_id": None,
        "speaker": None,
        "source_description": None,
        "metadata": {},
        "state": "committed",
        "reason": None,
    }
    client, seen = scripted(
        httpx.Response(200, json={"episodes": [one] * PAGE, "next": "17.4"}),
        httpx.Response(200, json={"episodes": [one], "next": None}),
    )
    assert len(list(client.iter_episodes("g", before=NOW, thread_id="t"))) == PAGE + 1
    assert [dict(request.url.params) for request in seen] == [
        {"before": "2024-05-01T00:00:00Z", "limit": "100", "thread_id": "t"},
        {"cursor": "17.4", "limit": "100", "thread_id": "t"},
    ]


def test_searches_are_sent_as_the_contract_says() -> None:
    answer = httpx.Response(200, json={"took_ms": 1})
    client, seen = scripted(answer, answer)
    client.search("x", group_ids="g", as_of=None, known_at=NOW, scopes=("facts",), wait_for="e")
    assert json.loads(seen[0].content) == {
        "query": "x",
        "group_ids": ["g"],
        "as_of": None,
        "known_at": "2024-05-01T00:00:00Z",
        "scopes": ["facts"],
        "wait_for": "e",
    }
    client.search(group_ids=["g", "h"], bfs_origins=["e"])
    assert json.loads(seen[1].content) == {"group_ids": ["g", "h"], "bfs_origins": ["e"]}
