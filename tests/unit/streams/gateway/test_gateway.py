"""The gateway over a sender that remembers: what is accepted, what is refused, and with which words."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest

from pipeline.access import hash_key
from pipeline.errors import Retryable, SettingError
from streams.gateway.app import GatewaySettings, create_gateway

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
GOOD = {
    "id": "e1",
    "group_id": "g",
    "source": "triples",
    "content": [{"subject": {"name": "Ana"}, "relation": "WORKS_AT", "object": {"name": "Acme"}}],
    "reference_time": "2024-01-10T08:15:30+02:00",
}


class Log:
    """A Kafka that confirms at once, or fails, or never answers."""

    def __init__(self) -> None:
        self.records: list[tuple[str, bytes | None, bytes | None]] = []
        self.fails: Exception | None = None
        self.hangs = False
        self.asked = 0

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        await self.send_all(topic, [(key, value)], headers)

    async def send_all(
        self,
        topic: str,
        records: Sequence[tuple[bytes | None, bytes | None]],
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        self.asked += 1
        if self.fails:
            raise self.fails
        if self.hangs:
            await asyncio.Event().wait()
        self.records += [(topic, key, value) for key, value in records]


async def _ready() -> None:
    """Kafka is there."""


def client_of(log: Log, **settings: Any) -> httpx.AsyncClient:
    app = create_gateway(GatewaySettings(**settings), log, ready=_ready, clock=lambda: NOW)
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway")


@pytest.fixture
def log() -> Log:
    return Log()


@pytest.fixture
async def client(log: Log) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(log) as made:
        yield made


async def post(client: httpx.AsyncClient, body: Any, **more: Any) -> httpx.Response:
    return await client.post(
        "/v1/episodes", content=body if isinstance(body, bytes) else json.dumps(body), **more
    )


async def test_an_event_goes_to_its_topic_under_its_group_untouched_but_for_what_was_left_out(
    log: Log, client: httpx.AsyncClient
) -> None:
    answer = await post(client, GOOD)
    assert (answer.status_code, answer.json()) == (202, {"ids": ["e1"]})
    ((topic, key, value),) = log.records
    assert (topic, key) == ("episodes", b"g")
    assert json.loads(value or b"") == {**GOOD, "reference_time": "2024-01-10T06:15:30Z"}


async def test_ids_are_derived_from_group_content_and_reference_time(client: httpx.AsyncClient) -> None:
    bare = {k: v for k, v in GOOD.items() if k != "id"}
    other_time = {**bare, "reference_time": "2024-02-10"}
    other_group = {**bare, "group_id": "h"}
    ids = (await post(client, [bare, bare, other_time, other_group])).json()["ids"]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3
    same_instant = {**bare, "reference_time": "2024-01-10T06:15:30Z"}
    assert (await post(client, same_instant)).json()["ids"] == [ids[0]]


async def test_one_bad_event_refuses_the_whole_list_and_says_which(
    log: Log, client: httpx.AsyncClient
) -> None:
    bad = {**GOOD, "content": [{"subject": {"name": "Ana", "kind": "x"}, "object": {"name": "B"}}]}
    answer = await post(client, [GOOD, bad])
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    paths = {e["path"] for e in answer.json()["errors"]}
    assert paths == {"1.content.0.subject.kind", "1.content.0.relation"}
    assert log.records == []


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"colour": "red"}, "colour"),
        ({"group_id": None}, "group_id"),
        ({"group_id": ""}, "group_id"),
        ({"group_id": "a\nb"}, "group_id"),
        ({"group_id": "x" * 129}, "group_id"),
        ({"id": ""}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"id": 7}, "id"),
        ({"source": "fax"}, "source"),
        ({"content": "words"}, "content"),
        ({"content": []}, "content"),
        ({"reference_time": "yesterday-ish"}, "reference_time"),
        ({"reference_time": 1704067200}, "reference_time"),
        ({"metadata": {"a": ["b"]}}, "metadata.a"),
        ({"metadata": "chat"}, "metadata"),
        ({"metadata": {"a": None}}, "metadata.a"),
        ({"ontology": "nobody"}, "ontology"),
        ({"speaker": {"name": "Ana"}}, "speaker"),
        ({"thread_id": 5}, "thread_id"),
        ({"source": "text", "content": "x" * 1_100_000}, "content"),
        ({"source": "text", "content": ""}, "content"),
        ({"source": "message", "content": "hi", "speaker": {"name": "\u200b"}}, "speaker.name"),
        ({"source": "message", "content": "hi", "speaker": {"name": "Ana", "role": "pilot"}}, "speaker.role"),
    ],
)
async def test_each_fault_is_named(
    log: Log, client: httpx.AsyncClient, change: dict[str, Any], path: str
) -> None:
    answer = await post(client, {**GOOD, **change})
    assert answer.status_code == 422, answer.text
    assert path in {e["path"] for e in answer.json()["errors"]}
    assert log.records == []


@pytest.mark.parametrize(
    ("triple", "path"),
    [
        ({"valid_at": "2024-13-45"}, "content.0.valid_at"),
        ({"valid_at": 2024}, "content.0.valid_at"),
        ({"valid_at": "2024", "invalid_at": "2023"}, "content.0.invalid_at"),
        ({"valid_at": "2024", "invalid_at": "2024"}, "content.0.invalid_at"),
        ({"cardinality": "several"}, "content.0.cardinality"),
        ({"attributes": ["x"]}, "content.0.attributes"),
        ({"relation": " "}, "content.0.relation"),
        ({"subject": {}}, "content.0.subject.name"),
    ],
)
async def test_faults_inside_a_triple_are_named(
    client: httpx.AsyncClient, triple: dict[str, Any], path: str
) -> None:
    answer = await post(client, {**GOOD, "content": [{**GOOD["content"][0], **triple}]})  # type: ignore[index]
    assert answer.status_code == 422
    assert path in {e["path"] for e in answer.json()["errors"]}


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"\xff\xfe",
        b"NaN",
        b'{"content": Infinity}',
        b"[" * 100_000,
        b"null",
        b"[]",
        b'"text"',
        b"[1]",
    ],
)
async def test_garbage_is_refused_and_never_breaks(log: Log, client: httpx.AsyncClient, body: bytes) -> None:
    answer = await post(client, body)
    assert answer.status_code in (400, 422)
    assert answer.json()["title"]
    assert log.records == []


@pytest.mark.parametrize("content", ["\ud800", {"a": "\udfff"}, 10**30, [[]] * 3])
async def test_json_that_cannot_be_kept_as_it_is_is_refused_and_the_rest_is_kept(
    log: Log, client: httpx.AsyncClient, content: Any
) -> None:
    body = {"group_id": "g", "source": "json", "content": content}
    answer = await post(client, json.dumps(body).encode())
    if answer.status_code == 202:
        assert json.loads(log.records[0][2] or b"")["content"] == content
    else:
        assert answer.status_code == 422
        assert "content" in answer.text


async def test_null_is_a_json_record_like_any_other(client: httpx.AsyncClient) -> None:
    assert (await post(client, {"group_id": "g", "source": "json", "content": None})).status_code == 202
    assert (await post(client, {"group_id": "g", "source": "json"})).status_code == 422


async def test_a_kafka_that_fails_or_hangs_is_a_503_to_send_again(log: Log) -> None:
    log.fails = Retryable("no leader")
    async with client_of(log) as client:
        answer = await post(client, GOOD)
    assert answer.status_code == 503
    assert int(answer.headers["retry-after"]) > 0
    log.fails, log.hangs = None, True
    async with client_of(log, confirm_within=0.05) as client:
        assert (await post(client, GOOD)).status_code == 503


async def test_a_body_over_the_limit_is_refused_by_size(log: Log) -> None:
    async with client_of(log, max_body=1000) as client:
        answer = await post(client, b"x" * 2000)
    assert answer.status_code == 413


async def test_more_requests_than_may_wait_are_sent_away(log: Log) -> None:
    log.hangs = True
    async with client_of(log, max_waiting=1, confirm_within=1.0) as client:
        first = asyncio.create_task(post(client, GOOD))
        async with asyncio.timeout(5):
            while (await post(client, GOOD)).status_code != 503:
                pass
        assert (await first).status_code == 503


async def test_keys_are_limited_to_groups(log: Log) -> None:
    async with client_of(log, api_keys={hash_key("secret"): ("g",)}) as client:
        assert (await post(client, GOOD)).status_code == 401
        wrong = await post(client, GOOD, headers={"Authorization": "Bearer guess"})
        assert wrong.status_code == 401
        right = {"Authorization": "Bearer secret"}
        assert (await post(client, GOOD, headers=right)).status_code == 202
        assert (await post(client, {**GOOD, "group_id": "h"}, headers=right)).status_code == 403
    assert len(log.records) == 1


def test_an_open_gateway_off_loopback_is_refused_at_the_start(log: Log) -> None:
    with pytest.raises(SettingError, match="gateway"):
        create_gateway(GatewaySettings(host="0.0.0.0"), log, ready=_ready)


async def test_health_tells_process_and_kafka_apart(log: Log) -> None:
    async def away() -> None:
        raise Retryable("no broker")

    app = create_gateway(GatewaySettings(), log, ready=away)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://gateway") as client:
        assert (await client.get("/healthz")).status_code == 200
        assert (await client.get("/readyz")).status_code == 503
        assert (await client.get("/nothing")).json()["status"] == 404
        await post(client, GOOD)
        page = (await client.get("/metrics")).text
    assert 'factstream_gateway_requests_total{route="/v1/episodes",status="202"} 1.0' in page


async def test_the_description_shows_the_event(client: httpx.AsyncClient) -> None:
    described = (await client.get("/openapi.json")).json()
    assert "TriplesEvent" in json.dumps(described["paths"]["/v1/episodes"]["post"]["requestBody"])


async def test_bytes_under_way_are_bounded_and_come_free_again(log: Log) -> None:
    size = len(json.dumps(GOOD, separators=(",", ":")).encode())
    log.hangs = True
    async with client_of(log, max_waiting_bytes=size * 5 // 2) as client:
        waiting = [asyncio.create_task(post(client, GOOD)) for _ in range(2)]
        while log.asked < 2:
            await asyncio.sleep(0)
        answer = await post(client, GOOD)
        assert answer.status_code == 503
        assert answer.headers["Retry-After"] == "2"
        assert "bytes of episodes wait for Kafka" in answer.json()["detail"]
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        log.hangs = False
        assert (await post(client, GOOD)).status_code == 202


async def test_one_request_is_never_too_large_for_an_empty_room(log: Log) -> None:
    async with client_of(log, max_waiting_bytes=10) as client:
        assert (await post(client, GOOD)).status_code == 202
        assert (await post(client, GOOD)).status_code == 202
