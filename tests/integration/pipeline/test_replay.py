"""What a worker line with a model has said, told again from Kafka's topics into an empty group: the digest is equal."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pytest

from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.extraction.router import RoutingExtractor
from pipeline.graph.digest import digest, summary
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.entity_judge import ModelEntityJudge
from pipeline.llm.fact_judge import ModelFactJudge
from pipeline.model.episode import Episode
from pipeline.model.extraction import ExtractedEpisode
from pipeline.model.judgement import JudgedEpisode
from pipeline.observer import Observer, SilentObserver
from pipeline.replay.logged import logged
from pipeline.replay.replay import Replay, Replayed
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.agents.decoding import read_episode
from streams.event import Event
from streams.topics import EPISODES, EXTRACTED, JUDGED
from streams.worker import Stages
from tests.integration.pipeline.running import DIMENSION, Running, running
from tests.integration.pipeline.services import serving
from tests.model_server import ModelServer
from tests.model_server.request import RecordedRequest
from tests.model_server.toy import answer as toy_answer

pytestmark = pytest.mark.integration

WIPE = "MATCH (n) WHERE n.group_id = $group DETACH DELETE n"
TEXTS = (
    "Ana Ruiz works at Acme Corp since 2022. Ana Ruiz likes Tea.",
    "Bruno Falk knows Ana Ruiz. Bruno Falk works at ACME since March 2023.",
    "Ana-Ruiz moved to Lima in 2024. Ana-Ruiz owns Boat 1.",
    "王伟 works at Globex.",
    "Ana Ruiz leads Boat 2.",
    "Bruno Falk lives in Quito. Bruno Falk bought Tea-House.",
    "hello",
)


def ended(request: RecordedRequest) -> Any:
    """Who leads something likes nothing any more; whose boat has another number is no other boat."""
    verdicts = []
    for block in re.split(r"\n\n(?=question )", request.block("questions")):
        head, *facts = block.split("\n")
        number = int(re.match(r"question (\d+)", head)[1])  # type: ignore[index]
        over = [i for i, line in enumerate(facts) if "| LEADS |" in head and "| LIKES |" in line]
        verdicts.append({"question": number, "reason": "leads", "same": None, "ended": over})
    return {"verdicts": verdicts}


@dataclass
class Recording:
    """What a model answered, by purpose and the episode that it was asked about."""

    answers: dict[tuple[str, str, str], Any] = field(default_factory=dict)

    def listen(self, request: RecordedRequest) -> Any:
        found = ended(request) if request.purpose == "judge_facts" else toy_answer(request)
        self.answers[self._key(request)] = found
        return found

    def repeat(self, request: RecordedRequest) -> Any:
        return self.answers[self._key(request)]

    def _key(self, request: RecordedRequest) -> tuple[str, str, str]:
        return (request.purpose, request.block("episode"), request.block("questions"))


def stages(url: str, store: Any, embedder: Embedder, observer: Observer) -> Stages:
    chat = OpenAIChat(Endpoint(url), "model", observer)
    parts = (embedder, system_clock, observer)
    return Stages(
        ExtractStage(store, RoutingExtractor(ModelExtractor(chat, observer)), *parts),
        ResolveEntitiesStage(store, *parts, ModelEntityJudge(chat, observer)),
        ResolveFactsStage(store, *parts, ModelFactJudge(chat, observer)),
        UpdateCommunitiesStage(store, *parts),
    )


@dataclass
class Topics:
    """What Kafka keeps of a group."""

    episodes: list[Episode]
    extracted: list[ExtractedEpisode]
    judged: list[JudgedEpisode]


async def read_topics(installation: Running) -> Topics:
    raw = [
        Event(
            r.topic,
            r.partition,
            r.offset,
            r.key,
            r.value,
            datetime.fromtimestamp(r.timestamp / 1000, UTC),
            tuple(r.headers),
        )
        for r in await installation.records(EPISODES)
    ]
    return Topics(
        [read_episode(event) for event in raw],
        [ExtractedEpisode.model_validate_json(r.value) for r in await installation.records(EXTRACTED)],
        [JudgedEpisode.model_validate_json(r.value) for r in await installation.records(JUDGED)],
    )


@asynccontextmanager
async def replaying(installation: Running, url: str, **asks: bool) -> AsyncIterator[Replay]:
    store = Neo4jGraphStore(installation.bolt, dimension=DIMENSION)
    await store.open()
    try:
        made = stages(url, store, HashingEmbedder(DIMENSION), SilentObserver())
        yield Replay(made.extract, made.resolve_entities, made.resolve_facts, made.update_communities, **asks)
    finally:
        await store.close()


async def test_from_the_raw_topic_with_a_recorded_model_and_from_extractions_without_any(
    kafka_bootstrap: str, bolt_uri: str, group: str
) -> None:
    events = [
        {
            "id": f"e{n}",
            "group_id": group,
            "source": "text",
            "content": text,
            "reference_time": f"2024-0{n}-01T00:00:00Z",
        }
        for n, text in enumerate(TEXTS, start=1)
    ]
    recording = Recording()
    async with ModelServer(dimension=DIMENSION) as server, running(kafka_bootstrap, bolt_uri) as installation:
        server.on(recording.listen)

        def of_server(*parts: Any) -> Stages:
            return stages(server.url, *parts)

        async with serving(installation, stages=of_server) as (services, _):
            await services.publish(*events)
            states = await services.until_final(group, *(e["id"] for e in events))
        assert set(states.values()) <= {"committed", "skipped"}
        topics = await read_topics(installation)
        merged = [v for j in topics.judged for v in j.mentions if v.same]
        closed = [v for j in topics.judged for v in j.statements if v.ended]
        assert merged
        assert closed
        await installation.rebuild_communities(group)
        lived = await installation.dump(group)
        assert any(b.closing_rule == "judge" for f in lived.facts for b in f.beliefs)

        # Raw events, a model that repeats what it was heard to say, and the record of the judges.
        server.clear()
        server.on(recording.repeat)
        await installation.connection.write("wipe", WIPE, {"group": group})
        async with replaying(installation, server.url, asks_extractor=True) as replay:
            done = await replay.run(logged(topics.episodes, ()), reversed(topics.judged))
        assert same(await installation.dump(group), lived)
        assert (done.episodes, done.unrecorded, done.lost) == (len(events), 0, 0)
        assert {r.purpose for r in server.chats} <= {"extract", "reflexion"}

        # What was extracted, in another order than the log has, and no model.
        server.clear()
        await installation.connection.write("wipe", WIPE, {"group": group})
        async with replaying(installation, "http://127.0.0.1:9/v1") as replay:
            done = await replay.run(logged(topics.episodes, reversed(topics.extracted)), topics.judged)
        assert same(await installation.dump(group), lived)
        assert done == Replayed(done.states, 0, 0)

        # Without the record the same questions stay open, and are counted.
        await installation.connection.write("wipe", WIPE, {"group": group})
        async with replaying(installation, "http://127.0.0.1:9/v1") as replay:
            done = await replay.run(logged(topics.episodes, topics.extracted))
        assert done.unrecorded >= len(merged)
        assert digest(await installation.dump(group)) != digest(lived)


def same(one: Any, other: Any) -> bool:
    """Equal digests; where they differ, the assertion shows what differs."""
    assert summary(one) == summary(other)
    return digest(one) == digest(other)
