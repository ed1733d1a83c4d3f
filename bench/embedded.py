"""What the embedded memory takes and gives: episodes a second, searches, size on disk, memory of the process.

    python -m bench.embedded                      rates, and searches over 1,000 and 10,000 facts
    python -m bench.embedded --facts 100000       searches over so many facts (several times: several sizes)

Each measurement runs in a process of its own on a fresh file, one after the other; read times on a busy machine as
they are. Rates use the embedder of the settings (FACTSTREAM_EMBEDDER); searches use hashed words of `--dimension`
places, since what is measured there is the store and the ranking, and a model's vectors cost the same to compare.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import resource
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Any

from factstream.memory import Memory
from factstream.settings import load_settings
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.observer import SilentObserver

TRIPLES_PER_EPISODE = 100
NAMES = ("Ana", "Ben", "Chidi", "Dana", "Eve", "Fen", "Gus", "Hana", "Iris", "Jo")
RELATIONS = ("WORKS_AT", "KNOWS", "OWNS", "LIVES_IN", "BOUGHT", "REPORTED", "USES", "MET")
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


def many_triples(number: int, chance: random.Random) -> dict[str, Any]:
    """An episode with `TRIPLES_PER_EPISODE` facts of one group."""
    content = []
    for place in range(TRIPLES_PER_EPISODE):
        fact = number * TRIPLES_PER_EPISODE + place
        subject, relation = f"{chance.choice(NAMES)} {chance.randrange(2000)}", chance.choice(RELATIONS)
        thing = f"{chance.choice(THINGS)} {fact}"
        told = f"{subject} {relation.lower().replace('_', ' ')} {thing}"
        content.append(
            {"subject": {"name": subject}, "relation": relation, "object": {"name": thing}, "fact": told}
        )
    return {
        "id": f"b{number}",
        "group_id": "g",
        "source": "triples",
        "content": content,
        "reference_time": "2024-01-01",
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


async def search(path: str, facts: int, dimension: int, queries: int) -> dict[str, Any]:
    """Times of hybrid searches (BM25, cosine, rank fusion) over one group with so many facts."""
    chance = random.Random(1)
    async with Memory(path, embedder=HashingEmbedder(dimension)) as memory:
        started, worked = time.perf_counter(), time.process_time()
        episodes = facts // TRIPLES_PER_EPISODE
        for first in range(0, episodes, 20):
            await memory.add_many([many_triples(n, chance) for n in range(first, min(episodes, first + 20))])
        loading, worked = time.perf_counter() - started, time.process_time() - worked
        asked = time.process_time()
        times = []
        for _ in range(queries + 1):
            question = f"{chance.choice(NAMES)} {chance.randrange(2000)} {chance.choice(THINGS)}"
            begun = time.perf_counter()
            found = await memory.search(question, group_ids="g")
            times.append((time.perf_counter() - begun) * 1000)
            if len(found.facts) != 10:
                raise RuntimeError(f"{question!r} found {len(found.facts)} facts")
        asked = time.process_time() - asked
    first, *warm = times
    warm.sort()
    return {
        "facts": facts,
        "loaded_per_second": round(facts / loading),
        "load_cpu_ms_each": round(worked / facts * 1000, 2),
        "first_ms": round(first, 1),
        "p50_ms": round(warm[len(warm) // 2], 1),
        "p95_ms": round(warm[int(len(warm) * 0.95)], 1),
        "search_cpu_ms": round(asked / len(times) * 1000, 1),
        "file_mib": _mib(path),
        "rss_mib": _rss(),
    }


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


def _show(rows: Sequence[dict[str, Any]]) -> None:
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
    parser.add_argument("--episodes", type=int, default=200, help="episodes of each rate; 0: no rates")
    parser.add_argument("--facts", type=int, action="append", help="facts that are searched (1000 and 10000)")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--dimension", type=int, default=384)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rates = [
        _apart(rate, kind, options.episodes, batch)
        for kind in ("triples", "text")
        for batch in (False, True)
        if options.episodes
    ]
    searches = [
        _apart(search, facts, options.dimension, options.queries) for facts in options.facts or (1000, 10_000)
    ]
    if options.json:
        print(json.dumps({"rates": rates, "searches": searches}, indent=2))
        return
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, embedder {load_settings().embedder}\n")
    if rates:
        _show(rates)
    _show(searches)


if __name__ == "__main__":
    main()
