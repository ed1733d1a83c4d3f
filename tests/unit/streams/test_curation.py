"""What a curation sends to Kafka, and what the agents make of the tombstones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pipeline.clock import system_clock
from pipeline.model.changes import Change, FactChange
from pipeline.model.fact import EntityRef, FactView
from streams.agents.outbox import Outbox
from streams.agents.resolve_entities import ResolveEntitiesWork
from streams.agents.resolve_facts import ResolveFactsWork
from streams.curation import publish_curation
from streams.event import Event
from streams.topics import JUDGING_STAGES, judged_key, stage_key

NOW = datetime(2025, 1, 1, tzinfo=UTC)


class Sent:
    """Remembers what it is given to send."""

    def __init__(self) -> None:
        self.records: list[tuple[str, bytes | None, bytes | None]] = []

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        self.records.append((topic, key, value))

    async def send_all(
        self,
        topic: str,
        records: Sequence[tuple[bytes | None, bytes | None]],
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        self.records += [(topic, key, value) for key, value in records]


class Untouched:
    """A stage and its store that must not be asked for anything."""

    @property
    def store(self) -> Any:
        return self

    async def run(self, event: Any) -> Any:
        raise AssertionError("a tombstone is no event of a stage")


def change(name: str, revision: int) -> FactChange:
    view = FactView(
        id=name,
        fact="",
        relation="",
        source=EntityRef(id="a", name=""),
        target=EntityRef(id="b", name=""),
        valid_at=None,
        invalid_at=None,
        created_at=NOW,
        expired_at=NOW,
        episodes=(),
    )
    return FactChange(
        change=Change.retracted, fact=view, group_id="g", episode_id="e1", at=NOW, revision=revision
    )


async def test_tombstones_come_before_the_changes_in_their_order() -> None:
    sent = Sent()
    changes = [change("f2", 3), change("f1", 2)]
    await publish_curation(sent, "test.", "g", changes, ["e1", "e2"])
    keys = [stage_key("g", "e1"), stage_key("g", "e2")]
    assert sent.records[:4] == [
        (topic, key, None) for topic in ("test.episodes.extracted", "test.episodes.resolved") for key in keys
    ]
    records = [judged_key("g", episode, stage) for episode in ("e1", "e2") for stage in JUDGING_STAGES]
    assert sent.records[4:8] == [("test.episodes.judged", key, None) for key in records]
    assert [(topic, key) for topic, key, _ in sent.records[8:]] == [("test.facts.changes", b"g")] * 2
    told = [FactChange.model_validate_json(value or b"") for _, _, value in sent.records[8:]]
    assert told == changes


async def test_nothing_to_tell_sends_nothing() -> None:
    sent = Sent()
    await publish_curation(sent, "", "g", [], [])
    assert sent.records == []


async def test_a_tombstone_on_a_compacted_topic_passes_by() -> None:
    sent = Sent()
    outbox = Outbox(sent, "", system_clock)
    stage: Any = Untouched()
    for work, topic in (
        (ResolveEntitiesWork(stage, outbox), "episodes.extracted"),
        (ResolveFactsWork(stage, outbox), "episodes.resolved"),
    ):
        await work.handle(Event(topic, 0, 1, stage_key("g", "e1"), None, NOW), None, None)
    assert sent.records == []
