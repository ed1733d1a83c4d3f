"""What the embedded memory takes and gives: episodes a second, searches, size on disk, memory; beside Neo4j.

    python -m bench.embedded [--episodes 100] [--facts 1000 --facts 10000 --facts 100000] [--bolt bolt://HOST:PORT]

Each measurement runs in a process of its own, one after the other. Rates go through all stages, one by one and as a
batch, with the embedder of the settings (FACTSTREAM_EMBEDDER); `add_many` saves calls of the embedder and of the chat
model, which the tables count; --model-only stops after the second table. Graphs to be searched are written in bulk, through the archive's way in, with vectors of hashed words
(384 long): what is measured is the store and the ranking. With --bolt the same graphs, up to --bolt-facts, are
written to that Neo4j as well and asked the same questions through the same code; they are removed afterwards.

Read times on a busy machine as they are: CPU is this process's own, which for Neo4j is only the client.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from bench.record_graph import fill, made
from bench.scale_graph import DIMENSION, question
from factstream.memory import Memory
from factstream.settings import load_settings
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.graph.archive import ArchiveTarget
from pipeline.graph.neo4j.archive import Neo4jArchiveTarget
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import GraphReader
from pipeline.graph.sqlite.archive import SqliteArchiveTarget
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.observer import SilentObserver
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.search import Retrieval
from tests.model_server.server import ModelServer

PATIENCE = 300.0
"""Seconds that Neo4j may work on one request: on a busy machine the plan of the first one takes long."""
CLEAN = """CYPHER 25
MATCH (n) WHERE n.group_id = $group_id
CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 1000 ROWS
"""
CLEAN_ARCHIVE = "MATCH (s:FactstreamSchema {name: $name}) DELETE s"
NAMES = ("Ana", "Ben", "Chidi", "Dana", "Eve", "Fen", "Gus", "Hana", "Iris", "Jo")
THINGS = (
    "printer",
    "cartridge",
    "contract",
    "invoice",
    "laptop",
    "router",
    "garden",
    "piano",
    "bicycle",
    "kettle",
)
SENTENCES = (
    "{name} works at {thing} Works since March 2021.",
    "I moved to {place} last month, says {name}.",
    "{name} bought a {thing} yesterday.",
    "{name} no longer works at {place} Traders.",
)
PLACES = ("Leeds", "Valencia", "Porto", "Lyon", "Ghent", "Turin", "Bergen", "Cork")


class CountingEmbedder:
    """Counts calls and texts of another embedder."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self.model, self.dimension = inner.model, inner.dimension
        self.calls = self.texts = 0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.calls += 1
        self.texts += len(texts)
        return await self._inner.embed(texts, query=query)


def one_triple(number: int) -> dict[str, Any]:
    """A CRM change: episode with one fact of cardinality one."""
    return {
        "id": f"t{number}",
        "group_id": f"g{number % 4}",
        "source": "triples",
        "reference_time": f"2024-01-01T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        "content": [
            {
                "subject": {"name": f"{NAMES[number % 10]} {number % 50}", "type": "Person"},
                "relation": "WORKS_AT",
                "object": {"name": f"Company {number}", "type": "Company"},
                "cardinality": "one",
            }
        ],
    }


def text(number: int) -> dict[str, Any]:
    """A chat message in English."""
    chance = random.Random(number)
    sentence = chance.choice(SENTENCES).format(
        name=f"{chance.choice(NAMES)} Miller",
        thing=chance.choice(THINGS).title(),
        place=chance.choice(PLACES),
    )
    return {
        "id": f"m{number}",
        "group_id": f"g{number % 4}",
        "source": "message",
        "content": sentence,
        "speaker": {"name": chance.choice(NAMES), "role": "user"},
        "reference_time": f"2024-02-01T{number // 60 % 24:02}:{number % 60:02}:00Z",
        "thread_id": f"th{number % 4}",
    }


async def rate(path: str, kind: str, count: int, batch: bool) -> dict[str, Any]:
    """Episodes a second through all stages, after a first one that loads the models."""
    from factstream import compose

    settings = load_settings()
    embedder = CountingEmbedder(compose._bare_embedder(settings, SilentObserver()))
    make = {"triples": one_triple, "text": text}[kind]
    async with Memory(path, settings=settings, embedder=embedder) as memory:
        await memory.add({**make(0), "group_id": "first"})
        embedder.calls = embedder.texts = 0
        events = [make(number) for number in range(count)]
        started, worked = time.perf_counter(), time.process_time()
        if batch:
            await memory.add_many(events)
        else:
            for event in events:
                await memory.add(event)
        seconds = time.perf_counter() - started
        cpu = time.process_time() - worked
    return {
        "episodes": f"{kind}, {'one batch' if batch else 'one by one'}",
        "count": count,
        "per_second": round(count / seconds, 1),
        "cpu_ms_each": round(cpu / count * 1000, 1),
        "embedding_calls": embedder.calls,
        "embedded_texts": embedder.texts,
        "rss_mib": _rss(),
    }


async def model_rate(path: str, count: int, batch: bool) -> dict[str, Any]:
    """The same with a chat model and an embedding model behind an endpoint that answers from a script, which counts."""
    async with ModelServer(dimension=DIMENSION) as server:
        settings = load_settings().model_copy(
            update={
                "extractor": "model",
                "model_url": server.url,
                "model": "scripted",
                "embedder": "openai",
                "embedding_model": "scripted",
                "embedding_dimension": DIMENSION,
            }
        )
        async with Memory(path, settings=settings) as memory:
            events = [text(number) for number in range(count)]
            started, worked = time.perf_counter(), time.process_time()
            if batch:
                await memory.add_many(events)
            else:
                for event in events:
                    await memory.add(event)
            seconds, cpu = time.perf_counter() - started, time.process_time() - worked
        return {
            "episodes": f"text (chat model), {'one batch' if batch else 'one by one'}",
            "count": count,
            "per_second": round(count / seconds, 1),
            "cpu_ms_each": round(cpu / count * 1000, 1),
            "chat_calls": len(server.chats),
            "of_them_extraction": sum(r.purpose.startswith("extract") for r in server.chats),
            "prompt_tokens": sum(r.prompt_tokens for r in server.chats),
            "embedding_calls": len(server.embeddings),
        }


async def load(path: str, facts: int, bolt: str | None) -> float | str:
    """Write the graph in bulk; milliseconds of CPU that each fact took, with its episodes and entities."""
    target: ArchiveTarget
    if bolt is None:
        target = SqliteArchiveTarget(path, DIMENSION)
    else:
        target = Neo4jArchiveTarget(_connection(bolt), DIMENSION)
    await target.open()
    try:
        if await target.occupied([_group(facts)]):
            return "–"
        worked = time.process_time()
        await fill(target, made(_group(facts), facts), HashingEmbedder(DIMENSION))
        return round((time.process_time() - worked) / facts * 1000, 2)
    finally:
        await target.close()


async def search(path: str, facts: int, queries: int, bolt: str | None) -> dict[str, Any]:
    """Times of the default searches and of contexts over one group of so many facts, in a file or in Neo4j."""
    reader: GraphReader
    if bolt is None:
        reader = SqliteGraphReader(path)
    else:
        reader = Neo4jGraphReader(_connection(bolt), timeout=PATIENCE, warm=True)
    before = _rss()
    await reader.open()
    retrieval = Retrieval(reader, HashingEmbedder(DIMENSION), None, system_clock)
    told: dict[str, Any] = {"facts": facts, "store": "SQLite" if bolt is None else "Neo4j"}
    for name, kind, recipe in (
        ("search", SearchRequest, "hybrid_rrf"),
        ("context", ContextRequest, "memory"),
    ):
        chance = random.Random(1)
        times, cpu = [], 0.0
        for _ in range(queries + 1):
            request = kind(query=question(chance), group_ids=(_group(facts),), recipe=recipe)
            begun, worked = time.perf_counter(), time.process_time()
            if isinstance(request, ContextRequest):
                await retrieval.context(request)
            elif len((await retrieval.search(request)).facts) != request.limit:
                raise RuntimeError(f"{request.query!r} found too few")
            times.append((time.perf_counter() - begun) * 1000)
            # The first one loads the vectors.
            cpu += (time.process_time() - worked) if len(times) > 1 else 0.0
        first, *warm = times
        told[f"{name}_first_ms"] = round(first)
        told[f"{name}_p50_ms"] = round(statistics.median(warm), 1)
        told[f"{name}_p95_ms"] = round(statistics.quantiles(warm, n=20)[-1], 1)
        told[f"{name}_cpu_ms"] = round(cpu / queries * 1000, 1)
    await reader.close()
    told["file_mib"] = "–" if bolt else _mib(path)
    told["rss_mib"] = _rss()
    told["of_it_grown"] = _rss() - before
    return told


def _searched(facts: int, options: argparse.Namespace, bolt: str | None) -> dict[str, Any]:
    """A graph loaded in one process and searched in another."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(options.root or folder, f"facts-{facts}.db")
        loaded = _alone(load, path, facts, bolt)
        try:
            return {**_alone(search, path, facts, options.queries, bolt), "load_cpu_ms_each": loaded}
        finally:
            if bolt is not None:
                asyncio.run(_clean(bolt, _group(facts)))


def _alone(measure: Callable[..., Any], *arguments: Any) -> Any:
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_run, (measure, arguments))


def _group(facts: int) -> str:
    return f"bench-embedded-{facts}"


def _connection(bolt: str) -> Neo4jConnection:
    return Neo4jConnection(bolt, None, None, "neo4j", SilentObserver())


async def _clean(bolt: str, group: str) -> None:
    connection = _connection(bolt)
    await connection.open()
    for statement in (CLEAN, CLEAN_ARCHIVE):
        await connection.write("bench", statement, {"group_id": group, "name": f"archive bench {group}"})
    await connection.close()


def _mib(path: str) -> float:
    return round(os.path.getsize(path) / 2**20, 1)


def _rss() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def _apart(measure: Callable[..., Any], *arguments: Any) -> dict[str, Any]:
    """Runs a measurement in a process of its own, on a fresh file."""
    with tempfile.TemporaryDirectory() as folder, multiprocessing.get_context("spawn").Pool(1) as pool:
        path = os.path.join(folder, "bench.db")
        result: dict[str, Any] = pool.apply(_run, (measure, (path, *arguments)))
        return result


def _run(measure: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return asyncio.run(measure(*arguments))


def _show(rows: Sequence[dict[str, Any]], quiet: bool) -> None:
    if quiet or not rows:
        return
    print("| " + " | ".join(rows[0]) + " |")
    print("|" + "---|" * len(rows[0]))
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
    print(flush=True)


def main() -> None:
    """Measure and print tables, or JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--episodes", type=int, default=100, help="episodes of each rate; 0: no rates")
    parser.add_argument("--facts", type=int, action="append", help="facts that are searched (1000 and 10000)")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--bolt", help="a Neo4j without authentication, set up for 384 dimensions")
    parser.add_argument("--bolt-facts", type=int, default=10_000, help="no larger graphs than this there")
    parser.add_argument("--root", help="folder in which graph files are kept, to be used again")
    parser.add_argument("--model-only", action="store_true", help="only the rates with a chat model")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if not options.json:
        print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, embedder {load_settings().embedder}\n")
    found: dict[str, list[dict[str, Any]]] = {"rates": [], "model": [], "searches": []}
    for kind in () if options.model_only else ("triples", "text"):
        found["rates"] += [_apart(rate, kind, options.episodes, b) for b in (False, True) if options.episodes]
    _show(found["rates"], options.json)
    found["model"] = [_apart(model_rate, options.episodes, b) for b in (False, True) if options.episodes]
    _show(found["model"], options.json)
    for facts in () if options.model_only else options.facts or (1000, 10_000):
        found["searches"].append(_searched(facts, options, None))
        if options.bolt and facts <= options.bolt_facts:
            found["searches"].append(_searched(facts, options, options.bolt))
    _show(found["searches"], options.json)
    if options.json:
        print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
