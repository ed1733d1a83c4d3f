"""What a whole episode costs: four stages with every judge, over SQLite and one scripted endpoint with prices."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import orjson
import pytest

from factstream.compose import build_stages
from factstream.models import build_budgets, build_embedder
from factstream.settings import Settings
from pipeline.errors import Parked
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from pipeline.llm.fact_judge import ModelFactJudge
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from search_api.read_answers import episode_answer
from streams.worker import Stages
from tests.episodes import message
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer, Status

NOW = datetime(2024, 6, 1, tzinfo=UTC)
PRICES = {
    "big": {"prompt": 2, "completion": 8},
    "tiny": {"prompt": "0.1", "completion": "0.4"},
    "bge": {"embedding": "0.02"},
}
SIX = (
    "Bruno Falk works at Globex. Bruno Falk lives in Lima since 2019. Bruno Falk bought a Tesla last week. "
    "Clara Ruiz founded Initech. Clara Ruiz knows Bruno Falk. Globex is based in Lima."
)


@dataclass
class Line:
    """All four stages, and what the endpoint has seen."""

    server: ModelServer
    stages: Stages
    store: SqliteGraphStore
    reader: SqliteGraphReader
    observer: RecordingObserver

    async def say(self, episode: Episode) -> Usage:
        """The usage that is stored with the episode in the end."""
        extracted = (await self.stages.extract.run(episode)).output
        if extracted is not None:
            event = ExtractedEpisode.model_validate_json(extracted)
            resolved = (await self.stages.resolve_entities.run(event)).output
            outcome = await self.stages.resolve_facts.run(ResolvedEpisode.model_validate_json(resolved or ""))
            told = orjson.loads(outcome.output or "{}")
            await self.stages.update_communities.run(episode.ref, told["touched"])
        stored = await self.reader.episode("g", episode.id)
        assert stored is not None
        return stored.usage


def settings_for(server: ModelServer, **more: object) -> Settings:
    return Settings(
        extractor="model",
        model_url=server.url,
        model="big",
        small_model="tiny",
        embedder="openai",
        embedding_model="bge",
        embedding_dimension=64,
        **more,  # type: ignore[arg-type]
    )


async def opened(folder: Path, settings: Settings, server: ModelServer) -> Line:
    observer = RecordingObserver()
    embedder = build_embedder(settings, observer)
    store = SqliteGraphStore(folder / "graph.db", dimension=64, clock=lambda: NOW)
    reader = SqliteGraphReader(folder / "graph.db")
    await store.open()
    await reader.open()
    stages = build_stages(settings, store, embedder, observer, lambda: NOW)
    facts = stages.resolve_facts
    if facts.judge is None:
        chat = OpenAIChat(Endpoint(server.url), "big", observer, small_model="tiny")
        stages = replace(stages, resolve_facts=replace(facts, judge=ModelFactJudge(chat, observer)))
    return Line(server, stages, store, reader, observer)


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as running:
        yield running


@pytest.fixture
async def line(server: ModelServer, tmp_path: Path) -> AsyncIterator[Line]:
    made = await opened(tmp_path, settings_for(server, prices=PRICES), server)
    yield made
    await made.reader.close()
    await made.store.close()


async def test_six_entities_and_six_facts_cost_three_calls_three_requests_and_no_text_twice(
    line: Line,
) -> None:
    await line.say(message("I work at Globex Ltd.", speaker="Dora", id="e0"))
    await line.say(message("Clara Ruiz likes Tesla.", speaker="Dora", id="e1", sequence=2))
    line.server.requests.clear()
    usage = await line.say(message(SIX, id="e2", sequence=3))
    asked = [request.purpose for request in line.server.chats]
    assert len(asked) <= 3
    assert len(set(asked)) == len(asked)
    assert asked[0] == "extract"
    texts = [text for request in line.server.embeddings for text in request.inputs]
    assert len(line.server.embeddings) <= 3
    assert len(texts) == len(set(texts))
    stored = await line.reader.episode("g", "e2")
    assert stored is not None
    assert (stored.state, len(stored.facts)) == (EpisodeState.committed, 6)
    assert usage.llm_calls == len(asked)
    assert usage.prompt_tokens == sum(request.prompt_tokens for request in line.server.chats)
    assert usage.embedding_tokens == sum(request.prompt_tokens for request in line.server.embeddings)


@pytest.mark.parametrize("content", ["ok, thanks!", "Ok, thanks!", "Gracias!", "谢谢"])
async def test_thanks_cost_at_most_one_call(line: Line, content: str) -> None:
    await line.say(message(content, id="e0"))
    assert len(line.server.chats) <= 1


async def test_the_cost_is_what_the_tokens_cost_and_is_shown_with_the_episode(line: Line) -> None:
    await line.say(message("I work at Globex Ltd.", speaker="Dora", id="e0"))
    line.server.requests.clear()
    usage = await line.say(message("I work at Globex.", id="e1", sequence=2))
    expected = Decimal(0)
    answered = usage.completion_tokens
    for request in line.server.chats:
        rate = Decimal(2) if request.model == "big" else Decimal("0.1")
        expected += request.prompt_tokens * rate
    expected += sum(request.prompt_tokens for request in line.server.embeddings) * Decimal("0.02")
    assert {request.model for request in line.server.chats} == {"big", "tiny"}
    assert usage.cost is not None
    completions = usage.cost * 1_000_000 - expected
    assert answered * Decimal("0.4") < completions < answered * Decimal(8)
    stored = await line.reader.episode("g", "e1")
    assert stored is not None
    told = orjson.loads((await episode_answer(line.reader, stored)).model_dump_json())["usage"]
    assert Decimal(str(told["cost"])) == usage.cost


async def test_groups_metrics_episodes_and_the_day_tell_the_same_sum(line: Line) -> None:
    first = await line.say(message("I work at Globex.", id="e0"))
    second = await line.say(message(SIX, id="e1", sequence=2))
    total = sum((usage for _, usage in line.observer.spendings), Usage())
    assert total == first + second
    assert await line.store.spent("g", NOW.date()) == total


async def test_repeating_a_stage_costs_nothing_more(line: Line) -> None:
    episode = message("I work at Globex.", id="e0")
    usage = await line.say(episode)
    received = await line.stages.extract.admit(episode)
    assert await line.stages.extract.prepare(received) is None
    stored = await line.reader.episode("g", "e0")
    assert stored is not None
    assert stored.usage == usage


async def test_without_prices_there_is_no_cost(server: ModelServer, tmp_path: Path) -> None:
    line = await opened(tmp_path, settings_for(server), server)
    usage = await line.say(message("I work at Globex.", id="e0"))
    assert usage.cost is None
    assert usage.tokens > 0
    stored = await line.reader.episode("g", "e0")
    assert stored is not None
    assert "cost" not in orjson.loads((await episode_answer(line.reader, stored)).model_dump_json())["usage"]
    await line.reader.close()
    await line.store.close()


async def test_an_answer_that_must_be_asked_for_twice_is_paid_twice(line: Line) -> None:
    once = await line.say(message("I work at Globex.", id="e0"))
    line.server.on("no JSON at all", purpose="extract", times=1)
    twice = await line.say(message("I work at Globex.", id="e1", sequence=2))
    assert (once.llm_calls, twice.llm_calls) == (1, 2)
    assert once.cost is not None
    assert twice.cost is not None
    assert twice.cost > once.cost


async def test_an_embeddings_endpoint_that_fails_after_the_answer_does_not_cost_a_second_answer(
    line: Line,
) -> None:
    episode = message("I work at Globex.", id="e0")
    received = await line.stages.extract.admit(episode)
    line.server.on(Status(503), when=lambda request: request.path == "/embeddings", times=3)
    extraction = await line.stages.extract.prepare(received)
    assert extraction is not None
    assert len(extraction.statements) == 1
    assert len(line.server.chats) == 1
    assert line.observer.events["embedding_ahead_failed"] == 1


async def test_a_budget_outlives_a_restart_and_the_episode_is_stored_meanwhile(
    server: ModelServer, tmp_path: Path
) -> None:
    settings = settings_for(server, daily_budget="1000 tokens")
    assert build_budgets(settings).of("g") is not None
    line = await opened(tmp_path, settings, server)
    usage = await line.say(message(SIX, id="e0"))
    assert usage.tokens >= 1000
    await line.reader.close()
    await line.store.close()
    again = await opened(tmp_path, settings, server)
    server.requests.clear()
    with pytest.raises(Parked):
        await again.say(message("I work at Globex.", id="e1", sequence=2))
    assert server.chats == []
    stored = await again.reader.episode("g", "e1")
    assert stored is not None
    assert stored.state is EpisodeState.received
    await again.reader.close()
    await again.store.close()
