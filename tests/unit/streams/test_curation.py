"""What a curation sends to Kafka, and what the agents make of the tombstones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from pipeline.clock import system_clock
from pipeline.model.changes import Change, FactChange
from pipeline.model.episode import EpisodeRef, EpisodeState
from pipeline.model.extraction import ExtractedEpisode, Extraction, ResolvedEpisode
from pipeline.model.fact import EntityRef, FactView
from pipeline.model.judgement import JudgedEpisode, MentionVerdict, Named, record_of
from pipeline.stages.outcome import Outcome
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


REF = EpisodeRef(id="e1", group_id="g", reference_time=NOW, sequence=1)
RECORD = JudgedEpisode(
    episode=REF, stage="resolve_entities", mentions=(MentionVerdict(mention=Named(key="ana")),)
)


class Answers:
    """A stage that gives one outcome."""

    def __init__(self, name: str, outcome: Outcome) -> None:
        self.store = None
        self.name = name
        self._outcome = outcome

    async def run(self, *_: Any) -> Outcome:
        return self._outcome


def works(sent: Sent, outcome: Outcome) -> list[tuple[Any, Event]]:
    """The two agents that ask judges, each with an event of the episode."""
    outbox = Outbox(sent, "", system_clock)
    found: list[tuple[Any, Event]] = []
    events = (
        (ResolveEntitiesWork, "resolve_entities", ExtractedEpisode(episode=REF, extraction=Extraction())),
        (ResolveFactsWork, "resolve_facts", ResolvedEpisode(episode=REF, entities=(), statements=())),
    )
    for work, name, event in events:
        stage: Any = Answers(name, outcome)
        value = event.model_dump_json().encode()
        found.append((work(stage, outbox), Event("t", 0, 1, stage_key("g", "e1"), value, NOW)))
    return found


async def test_what_a_judge_said_is_sent_again_when_the_first_time_may_have_been_cut_off() -> None:
    record = record_of(RECORD)
    outcome = Outcome(EpisodeState.committed, None, repeated=True, judged=record)
    for place, stage in enumerate(JUDGING_STAGES):
        sent = Sent()
        work, event = works(sent, outcome)[place]
        await work.handle(event, None, None)
        assert (record or "").encode() == {
            key: value for topic, key, value in sent.records if topic == "episodes.judged"
        }[judged_key("g", "e1", stage)]


async def test_an_episode_that_was_forgotten_on_its_way_leaves_tombstones_and_no_state() -> None:
    outcome = Outcome(EpisodeState.committed, None, repeated=True, judged=None, forgotten=True)
    for place, topic in enumerate(("episodes.extracted", "episodes.resolved")):
        sent = Sent()
        work, event = works(sent, outcome)[place]
        await work.handle(event, None, None)
        gone = [("episodes.judged", judged_key("g", "e1", stage), None) for stage in JUDGING_STAGES]
        assert sent.records == [(topic, stage_key("g", "e1"), None), *gone]
