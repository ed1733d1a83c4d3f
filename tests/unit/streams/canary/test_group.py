"""The canary's group: no producer can write to it, and what is said about it reaches nobody."""

from __future__ import annotations

from datetime import UTC, datetime

import httpx
import orjson
import pytest

from pipeline.errors import Poison
from pipeline.model.episode import EpisodeState
from pipeline.model.event import InvalidEvent, parse_event
from streams.agents.decoding import read_episode
from streams.agents.outbox import Outbox
from streams.canary.group import CANARY_HEADER, canary_group, canary_value, of_canary
from streams.dead_letters import DeadLetters
from streams.event import Event
from streams.failure import Failure
from streams.gateway.app import GatewaySettings, create_gateway
from streams.topics import CHANGES, EXTRACTED, stage_key

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
CANARY_GROUP = canary_group("p.")
CANARY_KEY = CANARY_GROUP.encode()
HEADER = ((CANARY_HEADER, b"1"),)


class Sent:
    """A producer that keeps what it is given."""

    def __init__(self) -> None:
        self.topics: list[str] = []

    async def send(self, topic, key, value, headers=()):
        self.topics.append(topic)

    async def send_all(self, topic, records, headers=()):
        self.topics += [topic] * len(records)


def record(value: bytes, headers=HEADER, topic: str = "p.episodes", key: bytes = CANARY_KEY) -> Event:
    return Event(topic, 0, 7, key, value, AT, headers)


def test_its_own_record_is_an_episode_of_the_group():
    episode = read_episode(record(canary_value(CANARY_GROUP, "abc", AT)))
    assert (episode.group_id, episode.id, episode.reference_time) == (CANARY_GROUP, "abc", AT)
    assert "abc" in orjson.dumps(episode.content).decode()


def test_a_producer_is_refused_with_the_field_at_fault():
    event = orjson.loads(canary_value(CANARY_GROUP, "abc", AT))
    with pytest.raises(InvalidEvent, match="must not contain control characters") as told:
        parse_event(event)
    assert told.value.field == "group_id"
    with pytest.raises(Poison, match="control characters"):
        read_episode(record(canary_value(CANARY_GROUP, "abc", AT), headers=()))


def test_the_header_opens_no_other_group():
    event = orjson.loads(canary_value(CANARY_GROUP, "abc", AT)) | {"group_id": "acme"}
    with pytest.raises(Poison, match="group"):
        read_episode(record(orjson.dumps(event)))
    assert not of_canary(record(b"{}", key=b"acme"))
    plain = orjson.dumps({"group_id": "acme", "source": "text", "content": "hello"})
    assert read_episode(record(plain, key=b"acme")).group_id == "acme"


async def test_nothing_of_it_goes_to_status_or_changes():
    sent = Sent()
    outbox = Outbox(sent, "", lambda: AT)
    await outbox.status(CANARY_GROUP, "abc", EpisodeState.received)
    await outbox.send_all(CHANGES, CANARY_KEY, [b"{}", b"{}"])
    await outbox.send(CHANGES, CANARY_KEY, b"{}")
    assert sent.topics == []
    await outbox.send(EXTRACTED, stage_key(CANARY_GROUP, "abc"), b"{}")
    await outbox.status("acme", "abc", EpisodeState.received)
    assert sent.topics == ["episodes.extracted", "episodes.status"]


async def test_it_leaves_no_dead_letter_but_a_forged_one_does():
    sent = Sent()
    letters = DeadLetters(sent, "episodes.dead", lambda: AT)
    failure = Failure("extract", "admit", 1, Poison("no"))
    await letters.bury(record(b"{}"), failure)
    await letters.bury(record(b"{}", (), "p.episodes.resolved", stage_key(CANARY_GROUP, "abc")), failure)
    assert sent.topics == []
    await letters.bury(record(b"{}", headers=()), failure)
    assert sent.topics == ["episodes.dead"]


async def test_the_gateway_names_the_field_when_it_refuses_the_group():
    async def ready() -> None: ...

    app = create_gateway(GatewaySettings(), Sent(), ready=ready)  # type: ignore[arg-type]
    transport = httpx.ASGITransport(app=app)
    async with httpx.AsyncClient(transport=transport, base_url="http://gateway") as client:
        event = {"group_id": CANARY_GROUP, "source": "text", "content": "x"}
        answer = await client.post("/v1/episodes", json=event)
    assert answer.status_code == 422
    [fault] = answer.json()["errors"]
    assert fault["path"] == "group_id"
    assert "control characters" in fault["message"]
