"""The first agent and its status events when a budget is used up."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Parked
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, Usage
from pipeline.model.extraction import Extraction, Mention
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from streams.agents.extract import ExtractWork
from streams.agents.outbox import Outbox
from streams.event import Event

NOON = datetime(2024, 3, 14, 12, tzinfo=UTC)
MIDNIGHT = datetime(2024, 3, 15, tzinfo=UTC)


class Sent:
    """A sender that remembers."""

    def __init__(self) -> None:
        self.records: list[tuple[str, dict[str, Any]]] = []

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        self.records.append((topic, json.loads(value or b"null")))

    async def send_all(
        self, topic: str, records: Sequence[tuple[bytes | None, bytes | None]], headers: object = ()
    ) -> None:
        raise AssertionError("the first agent sends one record at a time")


class Reader:
    """Parks first, then reads."""

    def __init__(self) -> None:
        self.parks = True

    async def extract(self, episode: Episode, context: object) -> Extraction:
        if self.parks:
            raise Parked("the budget of group 'g' is used up", MIDNIGHT)
        return Extraction(mentions=(Mention(name="Ana"),), usage=Usage(llm_calls=1, prompt_tokens=700))


async def test_a_parked_episode_is_stored_and_its_status_says_why_and_until_when(tmp_path: Path) -> None:
    store = SqliteGraphStore(tmp_path / "graph.db", dimension=HashingEmbedder().dimension)
    graph = SqliteGraphReader(tmp_path / "graph.db")
    await store.open()
    await graph.open()
    reader, sent = Reader(), Sent()
    stage = ExtractStage(store, reader, HashingEmbedder(), lambda: NOON, SilentObserver())
    work = ExtractWork(stage, Outbox(sent, "", lambda: NOON))
    raw = {"id": "e1", "group_id": "g", "source": "message", "content": "Hello", "speaker": {"name": "Ana"}}
    event = Event("episodes", 0, 0, b"g", json.dumps(raw).encode(), NOON)

    admitted = await work.admit(event)
    with pytest.raises(Parked):
        await work.prepare(event, admitted)
    stored = await graph.episode("g", "e1")
    assert stored is not None
    assert (stored.state, stored.reason) == (
        "received",
        "the budget of group 'g' is used up; parked until 2024-03-15T00:00:00+00:00",
    )
    status = sent.records[-1][1]
    assert (sent.records[-1][0], status["state"]) == ("episodes.status", "received")
    assert status["reason"] == "the budget of group 'g' is used up; parked until 2024-03-15T00:00:00+00:00"

    reader.parks = False
    await work.handle(event, admitted, await work.prepare(event, admitted))
    topics = [topic for topic, _ in sent.records[-2:]]
    assert topics == ["episodes.extracted", "episodes.status"]
    assert sent.records[-1][1]["usage"]["prompt_tokens"] == 700
    assert sent.records[-1][1]["reason"] is None
    stored = await graph.episode("g", "e1")
    assert stored is not None
    assert stored.reason is None
    await graph.close()
    await store.close()
