"""What an episode costs: chat calls, prompt tokens and embeddings, for messages of 0 to 12 entities.

    python -m bench.cost [--graphiti-venv DIR] [--bolt URI] [--root DIR]

The whole pipeline runs as it is configured for a chat model, over Neo4j and the scripted endpoint of the tests, so
tokens are estimated at four letters each. With --graphiti-venv the newest graphiti-core from PyPI, installed there on
demand, adds the same messages through the same endpoint to the same Neo4j. Without --bolt a Neo4j is started in --root.

Each message is read twice: by a group that knows nothing, and, with other facts of the same entities, again.
"""

from __future__ import annotations

import argparse
import asyncio
import uuid
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from bench.cost_messages import SPEAKER, TALKS
from bench.graphiti_side import answers
from bench.graphiti_side.process import GraphitiProcess, python_of
from factstream import compose, models
from factstream.settings import Settings
from factstream.stack import LocalStack
from pipeline.embedding.port import Embedder
from pipeline.graph.port import GraphStore
from pipeline.llm.fact_judge import ModelFactJudge
from pipeline.model.episode import Episode, EpisodeRef, Source, Speaker
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.observer import Observer, SilentObserver
from streams.worker import Stages
from tests.model_server import ModelServer

START = datetime(2024, 3, 14, 9, tzinfo=UTC)
DIMENSION = 384
Say = Callable[[str, str, datetime], Awaitable[int]]
"""Adds one message, given group, content and reference time; answers how many facts it has made or changed."""


@dataclass(frozen=True)
class Measured:
    """What one message made a system ask for."""

    facts: int
    purposes: Counter[str]
    prompt_tokens: int
    embedding_requests: int
    texts: int
    twice: int

    @property
    def calls(self) -> int:
        """Chat calls."""
        return self.purposes.total()


async def measured(server: ModelServer, say: Say, group: str, content: str, at: datetime) -> Measured:
    """One message, and what the endpoint saw of it."""
    server.requests.clear()
    facts = await say(group, content, at)
    texts = [text for request in server.embeddings for text in request.inputs]
    return Measured(
        facts=facts,
        purposes=Counter(answers.schema_name(r) or r.purpose for r in server.chats),
        prompt_tokens=sum(r.prompt_tokens for r in server.chats),
        embedding_requests=len(server.embeddings),
        texts=len(texts),
        twice=len(texts) - len(set(texts)),
    )


def with_judges(settings: Settings, store: GraphStore, embedder: Embedder, observer: Observer) -> Stages:
    """The stages as they are configured, and in any case with the judge of facts, so that like is compared with like."""
    stages = compose.build_stages(settings, store, embedder, observer)
    chat = models.build_chat(settings, observer)
    if chat is None or stages.resolve_facts.judge is not None:
        return stages
    return replace(stages, resolve_facts=replace(stages.resolve_facts, judge=ModelFactJudge(chat, observer)))


def factstream_say(stages: Stages) -> Say:
    """One message through all four stages."""
    count = 0

    async def say(group: str, content: str, at: datetime) -> int:
        nonlocal count
        count += 1
        episode = Episode(
            id=f"e{count}",
            group_id=group,
            source=Source.message,
            content=content,
            reference_time=at,
            sequence=count,
            speaker=Speaker(name=SPEAKER),
            thread_id="talk",
        )
        extracted = (await stages.extract.run(episode)).output
        if extracted is None:
            return 0
        resolved = (await stages.resolve_entities.run(ExtractedEpisode.model_validate_json(extracted))).output
        done = (await stages.resolve_facts.run(ResolvedEpisode.model_validate_json(resolved or ""))).output
        return await _settle_communities(stages, episode.ref, done)

    return say


async def _settle_communities(stages: Stages, episode: EpisodeRef, changes: str | None) -> int:
    told = orjson.loads(changes or '{"changes": []}')
    if told["changes"]:
        await stages.update_communities.run(episode, told["touched"])
    return len({change["fact"]["id"] for change in told["changes"]})


async def run_all(server: ModelServer, say: Say, run: str) -> list[tuple[Measured, Measured]]:
    """Every talk in a group of its own: its first message, then its second."""
    made = []
    for talk in TALKS:
        group = f"cost-{run}-{talk.entities}"
        first = await measured(server, say, group, talk.first, START)
        second = await measured(server, say, group, talk.second, START + timedelta(days=30))
        made.append((first, second))
    return made


def show(title: str, rows: list[tuple[Measured, Measured]]) -> None:
    """Two tables."""
    for place, what in enumerate(("entities that are new", "entities that are known")):
        print(f"\n{title}, {what}\n")
        print(
            "| entities, facts | facts touched | chat calls | prompt tokens | embedding requests | texts | twice "
            "| calls by purpose |\n|---|---|---|---|---|---|---|---|"
        )
        for talk, pair in zip(TALKS, rows, strict=True):
            found = pair[place]
            purposes = ", ".join(f"{name} {n}" for name, n in found.purposes.most_common())
            print(
                f"| {talk.entities}, {talk.facts} | {found.facts} | {found.calls} | {found.prompt_tokens} | "
                f"{found.embedding_requests} | {found.texts} | {found.twice} | {purposes or '–'} |"
            )


@contextmanager
def database(bolt: str | None, root: Path) -> Iterator[str]:
    """The address of a Neo4j, one of our own if none is given."""
    if bolt is not None:
        yield bolt
        return
    with LocalStack(root / "stack", kafka_port=0, bolt_port=0, detached=False, report=print) as stack:
        yield stack.status().bolt_uri


async def main(arguments: argparse.Namespace, bolt: str) -> None:
    """Measure and print."""
    run = uuid.uuid4().hex[:8]
    observer = SilentObserver()
    async with ModelServer(dimension=DIMENSION) as server:
        server.on(answers.answer, when=answers.is_graphiti)
        settings = Settings(
            extractor="model",
            model_url=server.url,
            model="scripted",
            embedder="openai",
            embedding_model="scripted",
            embedding_dimension=DIMENSION,
            # Summaries of communities come later, for a group and not for a message.
            community_settle=0,
            neo4j_uri=bolt,
        )
        embedder = models.build_embedder(settings, observer)
        store = compose.build_store(settings, embedder, observer)
        await store.open()
        try:
            say = factstream_say(with_judges(settings, store, embedder, observer))
            show("factstream", await run_all(server, say, f"f{run}"))
        finally:
            await store.close()
        if arguments.graphiti_venv is None:
            return
        python = python_of(arguments.graphiti_venv)
        log = arguments.root / "graphiti.log"
        async with GraphitiProcess(python, server.url, bolt, DIMENSION, log) as graphiti:

            async def add(group: str, content: str, at: datetime) -> int:
                made = await graphiti.add(
                    group=group,
                    name=f"{group} {at:%Y-%m-%d}",
                    speaker=SPEAKER,
                    content=content,
                    reference_time=at.isoformat(),
                )
                return int(made["edges"])

            show(f"graphiti-core {graphiti.version}", await run_all(server, add, f"g{run}"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--graphiti-venv", type=Path, help="environment for graphiti-core, made on demand")
    parser.add_argument("--bolt", help="a Neo4j without authentication that runs already")
    parser.add_argument("--root", type=Path, default=Path(".factstream/bench-cost"), help="Neo4j and logs")
    given = parser.parse_args()
    given.root.mkdir(parents=True, exist_ok=True)
    with database(given.bolt, given.root) as uri:
        asyncio.run(main(given, uri))
