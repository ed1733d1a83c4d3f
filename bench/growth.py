"""What an episode costs in a group that holds nothing, 1,000, 10,000 and 100,000 facts.

    python -m bench.growth --root DIR [--bolt URI] [--sizes 0 1000 10000 100000] [--episodes 100]

The groups stand in one Neo4j, with their evidence and keys, as if all had been told (bench/scale_graph.py). Triples
about people of theirs then go through all four stages, in turn: one episode in each group, then the next. So what else
the machine does falls on all alike, and the ratios count. Without --bolt a Neo4j is started in --root; a database that
is given loses its search indexes for a moment while the groups are made, so give it none that others use.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
import uuid
from collections import defaultdict
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from statistics import mean, median

import orjson

from bench.cost import database
from bench.scale_graph import BATCH, DIMENSION, FACTS_AN_EPISODE, NOW, Made, ScaleGraph, group_of
from factstream import compose
from factstream.settings import Settings
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.neo4j import queries_facts as q
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.properties import evidence_parameters
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.model.fact import Fact
from pipeline.observer import SilentObserver
from pipeline.timeline.evidence import Evidence
from streams.worker import Stages

KEYS = """CYPHER 25
UNWIND $rows AS row
MATCH (e:Entity {group_id: $group_id, uuid: row.uuid})
MERGE (k:EntityKey {group_id: $group_id, key: row.key})
MERGE (k)-[:KEY_OF]->(e)
"""
WARM = 10


def evidence_of(fact: Fact, number: int) -> Evidence:
    """The statement that made a fact of the graph."""
    belief = fact.beliefs[0]
    return Evidence(
        id=fact.support[0].evidence_id,
        episode_id=fact.support[0].episode_id,
        subject=fact.source.id,
        relation=fact.relation,
        object=fact.target.id,
        fact=fact.fact,
        valid_at=belief.valid_at,
        invalid_at=belief.invalid_at,
        reference_time=NOW,
        sequence=number // FACTS_AN_EPISODE,
        index=number % FACTS_AN_EPISODE,
        recorded_at=NOW,
    )


async def complete(bolt: str, made: Made) -> None:
    """Evidence and keys, which a graph that is only searched does without."""
    connection = Neo4jConnection(bolt, None, None, "neo4j", SilentObserver())
    await connection.open()
    try:
        keys = [{"uuid": e.id, "key": key} for e in (*made.people, *made.things) for key in e.keys]
        for start in range(0, len(keys), BATCH):
            rows = keys[start : start + BATCH]
            await connection.write("bench", KEYS, {"group_id": made.group, "rows": rows})
        evidence = [evidence_parameters(evidence_of(fact, n)) for n, fact in enumerate(made.facts)]
        for start in range(0, len(evidence), BATCH):
            rows = evidence[start : start + BATCH]
            await connection.write("bench", q.WRITE_EVIDENCE, {"group_id": made.group, "evidence": rows})
    finally:
        await connection.close()


def told(made: Made, chance: random.Random, run: str, number: int) -> Episode:
    """A triple about one of the group's people, or about somebody new where there is none."""
    who = chance.choice(made.people).name if made.people else f"Ana Abel {chance.randrange(20)}"
    relation, other = chance.choice([("LIVES_IN", "Berga"), ("LIKES", "chess"), ("WORKS_AT", "Mill")])
    content = [
        {
            "subject": {"name": who, "type": "Person"},
            "relation": relation,
            "object": {"name": f"{other} {chance.randrange(50)}", "type": "Thing"},
            "cardinality": "one" if relation == "LIVES_IN" else "many",
        }
    ]
    return Episode(
        id=f"growth-{run}-{number}",
        group_id=made.group,
        source=Source.triples,
        content=content,
        reference_time=NOW + timedelta(minutes=number),
        sequence=10**9 + number,
    )


async def through(stages: Stages, episode: Episode) -> float:
    """Seconds of one episode through all stages."""
    started = time.perf_counter()
    extracted = (await stages.extract.run(episode)).output
    resolved = (
        await stages.resolve_entities.run(ExtractedEpisode.model_validate_json(extracted or ""))
    ).output
    done = (await stages.resolve_facts.run(ResolvedEpisode.model_validate_json(resolved or ""))).output
    changes = orjson.loads(done or "{}")
    if changes.get("changes"):
        await stages.update_communities.run(episode.ref, changes["touched"])
    return time.perf_counter() - started


async def main(bolt: str, sizes: Sequence[int], episodes: int) -> None:
    """Fill what is not there, measure, print."""
    groups = {}
    for size in sizes:
        run_group = f"growth-{uuid.uuid4().hex[:8]}"
        if size:
            await ScaleGraph(size).fill(bolt)
            groups[size] = group_of(ScaleGraph(size).group(None), size)
            await complete(bolt, groups[size])
        else:
            groups[size] = Made(run_group, [], [], [])
    observer = SilentObserver()
    store = compose.build_store(Settings(neo4j_uri=bolt), HashingEmbedder(DIMENSION), observer)
    await store.open()
    try:
        stages = compose.build_stages(Settings(), store, HashingEmbedder(DIMENSION), observer)
        chance, run = random.Random(1), uuid.uuid4().hex[:8]
        seconds = defaultdict(list)
        for number in range(WARM + episodes):
            for size, made in groups.items():
                took = await through(stages, told(made, chance, run, number))
                if number >= WARM:
                    seconds[size].append(took)
    finally:
        await store.close()
    base = seconds[sizes[0]]
    print(
        "| facts in the group | ms an episode, median | mean | median against the first |\n|---|---|---|---|"
    )
    for size, some in seconds.items():
        print(
            f"| {size} | {median(some) * 1000:.0f} | {mean(some) * 1000:.0f} | {median(some) / median(base):.2f} |"
        )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, default=Path(".factstream/bench-growth"), help="Neo4j and logs")
    parser.add_argument("--bolt", help="a Neo4j without authentication, and without other users")
    parser.add_argument("--sizes", type=int, nargs="+", default=[0, 1000, 10_000, 100_000])
    parser.add_argument("--episodes", type=int, default=100, help="measured in each group")
    given = parser.parse_args()
    given.root.mkdir(parents=True, exist_ok=True)
    with database(given.bolt, given.root) as uri:
        asyncio.run(main(uri, given.sizes, given.episodes))
