"""How searches grow with the graph: the same questions over 1,000 to 100,000 facts, in one group and over 200.

    python bench/search_scale.py --root DIR [--bolt bolt://HOST:PORT] [--sizes 1000 10000 100000] [--requests 60]
        [--graphiti-venv DIR]

Without --bolt a Neo4j of its own is started in DIR (heap of 2 GiB). For each size the graph gets a group of that many
facts and 200 groups that share as many; what smaller sizes have left stays in the database. Vectors are hashed words,
384 long. Each recipe is asked by 1 and by 16 clients through `search_api.retrieval.search.Retrieval`.

Columns: p50 and p95 in milliseconds, for the one large group and for a small one; round trips and KiB that the
database sends for a request of a large group, as a proxy between the two sees them. Recall: the share of the exact
ten nearest facts that the vector leg finds among its first ten; a fact as near as the tenth counts as one of them.
With --in-turn (needs --bolt) one client asks every size in turn and only times are told.
With --graphiti-venv the questions of the large group also go through graphiti-core, on the same database.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np

if not __package__:
    sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.counting_proxy import CountingProxy
from bench.graphiti_side.process import python_of
from bench.scale_graph import DIMENSION, NOW, SPREAD, ScaleGraph, Standing, question
from factstream.stack import LocalStack
from factstream.stack.memory import StackMemory
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import Filters, Method, Scope, SearchPlan, TimeRange
from pipeline.observer import SilentObserver
from search_api.requests import SearchRequest
from search_api.retrieval.search import Retrieval

RECIPES = (
    "bm25",
    "cosine",
    "hybrid_rrf",
    "hybrid_score",
    "hybrid_mmr",
    "hybrid_episode_mentions",
    "hybrid_node_distance",
    "NODE_HYBRID_SEARCH_RRF",
    "COMBINED_HYBRID_SEARCH_RRF",
    "memory",
)
CLIENTS = (1, 16)
RECALL_QUESTIONS = 50


@dataclass(frozen=True)
class Asked:
    """A recipe over one kind of group."""

    recipe: str
    graph: ScaleGraph
    small: bool

    def request(self, number: int) -> SearchRequest:
        """The request of a number: another question about another group each time."""
        chance = random.Random(number)
        group = self.graph.group(number % SPREAD if self.small else None)
        given = {"center": self.graph.person(chance, group)} if "distance" in self.recipe else {}
        return SearchRequest(
            query=question(chance),
            group_ids=(group,),
            recipe=self.recipe,
            as_of=NOW,
            **({"scopes": tuple(Scope)} if self.recipe == "memory" else {}),
            **given,
        )


async def timed(retrieval: Retrieval, asked: Asked, clients: int, requests: int) -> list[float]:
    """The milliseconds of each request."""
    took: list[float] = []
    numbers = iter(range(requests))

    async def client() -> None:
        for number in numbers:
            started = time.perf_counter()
            await retrieval.search(asked.request(number))
            took.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(client() for _ in range(clients)))
    return took


async def weighed(uri: str, asked: Asked, requests: int = 5) -> tuple[float, float]:
    """Round trips and KiB from the database for one request, through a proxy."""
    async with CountingProxy(uri) as proxy:
        reader = reader_of(proxy.uri)
        await reader.open()
        try:
            retrieval = retrieval_of(reader)
            await retrieval.search(asked.request(0))
            proxy.reset()
            for number in range(1, requests + 1):
                await retrieval.search(asked.request(number))
            return proxy.round_trips / requests, proxy.bytes_down / requests / 1024
        finally:
            await reader.close()


@dataclass(frozen=True)
class Narrowed:
    """A filter, and which facts pass it."""

    name: str
    filters: Filters
    passes: Callable[[Standing], bool]


LATELY = NOW - timedelta(days=100)
FILTERS = (
    Narrowed("no filter", Filters(), lambda fact: True),
    Narrowed("a relation (1/4)", Filters(relations=("LIVES_IN",)), lambda fact: fact.relation == "LIVES_IN"),
    Narrowed(
        "begun lately (1/20)",
        Filters(valid_at=(TimeRange(gte=LATELY),)),
        lambda fact: fact.valid_at >= LATELY,
    ),
    Narrowed(
        "metadata (1/20)",
        Filters(metadata={"channel": "channel 7"}),
        lambda fact: fact.channel == "channel 7",
    ),
)


async def recall(reader: Neo4jGraphReader, graph: ScaleGraph, small: bool, narrowed: Narrowed) -> float:
    """How much of the exact ten nearest the vector leg finds; a group where nothing passes does not count (nan: nowhere)."""
    embedder = HashingEmbedder(DIMENSION)
    found = []
    for number in range(RECALL_QUESTIONS):
        group = graph.group(number % SPREAD if small else None)
        facts, matrix = graph.vectors(group)
        vector = (await embedder.embed([question(random.Random(number))]))[0]
        every = zip(facts, (matrix @ np.asarray(vector, dtype=np.float32)).tolist(), strict=True)
        cosines = {fact.id: cosine for fact, cosine in every if narrowed.passes(fact)}
        if not cosines:
            continue
        tenth = sorted(cosines.values(), reverse=True)[:10][-1] - 1e-6
        plan = SearchPlan(
            (group,),
            (Scope.facts,),
            (Method.cosine,),
            50,
            vector=vector,
            as_of=NOW,
            filters=narrowed.filters,
        )
        (leg,) = (await reader.search(plan)).legs
        near = [cosines.get(key.split("\x1f")[1], -2.0) >= tenth for key, _ in leg.ranked[:10]]
        found.append(sum(near) / min(10, len(cosines)))
    return statistics.fmean(found) if found else float("nan")


def reader_of(uri: str) -> Neo4jGraphReader:
    """A reader with a connection of its own."""
    return Neo4jGraphReader(Neo4jConnection(uri, None, None, "neo4j", SilentObserver()), 120.0)


def retrieval_of(reader: Neo4jGraphReader) -> Retrieval:
    """Retrieval with the embedder that the graph was made with."""
    return Retrieval(reader, HashingEmbedder(DIMENSION), None, lambda: NOW)


def percentile(took: Sequence[float], share: float) -> float:
    """The value below which that share lies."""
    return sorted(took)[min(len(took) - 1, int(share * len(took)))]


async def beside(uri: str, graph: ScaleGraph, requests: int, python: Path) -> str:
    """A line for graphiti-core over the large group."""
    embedder = HashingEmbedder(DIMENSION)
    texts = [question(random.Random(number)) for number in range(requests)]
    asked = {
        "group": graph.group(None),
        "questions": list(zip(texts, await embedder.embed(texts), strict=True)),
        "clients": CLIENTS,
    }
    process = await asyncio.create_subprocess_exec(
        str(python),
        str(Path(__file__).with_name("graphiti_search.py")),
        "--bolt",
        uri,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await process.communicate(json.dumps(asked).encode())
    if process.returncode:
        return f"graphiti-core ended with code {process.returncode}"
    answer = json.loads(told)
    line = f"{'graphiti-core ' + answer['version']:28}{'':8}"
    for clients in CLIENTS:
        took = answer["took"][str(clients)]
        line += f"{percentile(took, 0.5):15.1f}{percentile(took, 0.95):8.1f}"
    return line


async def report(uri: str, size: int, requests: int, recipes: Sequence[str], graphiti: Path | None) -> None:
    """Fill the graph up to a size and print its lines."""
    graph = ScaleGraph(size)
    started = time.perf_counter()
    await graph.fill(uri)
    print(
        f"\n{size:,} facts in one group and over {SPREAD}: written in {time.perf_counter() - started:.0f} s"
    )
    async with AsyncExitStack() as stack:
        reader = reader_of(uri)
        await reader.open()
        stack.push_async_callback(reader.close)
        retrieval = retrieval_of(reader)
        for small in (False, True):
            for narrowed in FILTERS:
                found = await recall(reader, graph, small, narrowed)
                kind = "small" if small else "large"
                print(f"recall@10 of the vector leg, {kind} group, {narrowed.name}: {found:.3f}", flush=True)
        print(
            f"{'':28}{'first':>8}"
            + "".join(f"{f'{kind} {n}: p50':>15}{'p95':>8}" for kind in ("large", "small") for n in CLIENTS)
            + f"{'trips':>8}{'KiB':>8}"
        )
        for recipe in recipes:
            large = Asked(recipe, graph, small=False)
            first = (await timed(retrieval, large, 1, 1))[0]
            line = f"{recipe:28}{first:8.0f}"
            for small in (False, True):
                asked = Asked(recipe, graph, small)
                for clients in CLIENTS:
                    took = await timed(retrieval, asked, clients, requests)
                    line += f"{percentile(took, 0.5):15.1f}{percentile(took, 0.95):8.1f}"
            trips, kib = await weighed(uri, large)
            print(f"{line}{trips:8.1f}{kib:8.1f}", flush=True)
    if graphiti is not None:
        print(await beside(uri, graph, requests, graphiti), flush=True)


async def in_turn(uri: str, sizes: Sequence[int], requests: int, recipes: Sequence[str]) -> None:
    """One client that asks each question of every size in turn, so that a load that changes meets all sizes alike."""
    graphs = {size: ScaleGraph(size) for size in sorted(sizes)}
    for graph in graphs.values():
        await graph.fill(uri)
    print(f"{'p50 and p95 in turn':28}" + "".join(f"{size:>15,}{'':8}" for size in graphs))
    reader = reader_of(uri)
    await reader.open()
    try:
        retrieval = retrieval_of(reader)
        for recipe in recipes:
            took: dict[int, list[float]] = {size: [] for size in graphs}
            for number in range(requests + 1):
                for size, graph in graphs.items():
                    started = time.perf_counter()
                    await retrieval.search(Asked(recipe, graph, small=False).request(number))
                    took[size].append((time.perf_counter() - started) * 1000)
            line = f"{recipe:28}"
            for of in took.values():
                # The first has the plan made.
                line += f"{percentile(of[1:], 0.5):15.1f}{percentile(of[1:], 0.95):8.1f}"
            print(line, flush=True)
    finally:
        await reader.close()


async def measure(
    uri: str, sizes: Sequence[int], requests: int, recipes: Sequence[str], graphiti: Path | None
) -> None:
    """All sizes, smallest first."""
    for size in sorted(sizes):
        await report(uri, size, requests, recipes, graphiti)


def main() -> None:
    """Start what is not there and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=Path, default=Path(".factstream/search-scale"))
    parser.add_argument("--bolt")
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 10_000, 100_000])
    parser.add_argument("--requests", type=int, default=60)
    parser.add_argument("--recipes", nargs="+", default=list(RECIPES))
    parser.add_argument(
        "--in-turn",
        action="store_true",
        help="only one client, and one request of each size in turn: for a machine with other work",
    )
    parser.add_argument("--graphiti-venv", type=Path, help="made when it is not there")
    options = parser.parse_args()
    python = python_of(options.graphiti_venv) if options.graphiti_venv else None
    if options.bolt and options.in_turn:
        asyncio.run(in_turn(options.bolt, options.sizes, options.requests, options.recipes))
        return
    if options.bolt:
        asyncio.run(measure(options.bolt, options.sizes, options.requests, options.recipes, python))
        return
    memory = StackMemory(neo4j_heap=2048, neo4j_page_cache=512)
    with LocalStack(
        options.root, kafka_port=0, bolt_port=0, memory=memory, detached=False, report=print
    ) as local:
        local.stop("kafka")
        uri = local.status().bolt_uri
        assert uri is not None, "a started stack has an address"
        asyncio.run(measure(uri, options.sizes, options.requests, options.recipes, python))


if __name__ == "__main__":
    main()
