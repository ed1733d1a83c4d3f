"""What a stream of numbered statements leaves in the graph, in order and out of it.

    python bench/consolidation.py [--statements 5000] [--slots 500] [--bolt URI]
                                  [--graphiti-venv FOLDER --graphiti-statements 100]

The stream is generated from a seed: three of five slots hold one value at a time (a value may return), the others are
additive. Every statement is a triple with a number and a date of its own. Four runs, each in a fresh group: in order,
shuffled, 20 % late (moved to a later place in the stream, with their own dates), 5 % repeated (half of them the same
event again, half as a new event). All stages run but communities, on SQLite unless `--bolt` names a Neo4j.

Printed: the share of `one` slots whose current value is right, and of those whose whole history is; closed facts among
the additive ones (all of them wrong); facts of additive slots that are missing or twice. What is right is worked out
here from the list of statements, not with the product's code. Exit code 1 unless all is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
import venv
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.embedding.hashing import HashingEmbedder
from pipeline.extraction.router import RoutingExtractor
from pipeline.extraction.triples import TriplesExtractor
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.port import GraphStore
from pipeline.graph.search import GraphReader
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import ExtractedEpisode, ResolvedEpisode
from pipeline.model.fact import view
from pipeline.observer import SilentObserver
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage

START = datetime(2020, 1, 1, tzinfo=UTC)
VALUES = 6
DIMENSION = 384
"""As in a graph that the bundled embedding model made, so that its Neo4j can be used."""
GRAPHITI = "0.31.2"
Span = tuple[datetime, datetime | None]


@dataclass(frozen=True)
class Numbered:
    """One statement: subject `slot` has `value` since `at`. `event` is its id in the stream."""

    number: int
    slot: int
    one: bool
    value: str
    at: datetime
    event: str

    @property
    def subject(self) -> str:
        return f"Unit {self.slot:04d}"

    @property
    def relation(self) -> str:
        return "HAS_STATE" if self.one else "HAS_SEEN"

    def triple(self) -> dict[str, object]:
        """The statement as a producer sends it."""
        return {
            "subject": {"name": self.subject, "type": "Unit"},
            "relation": self.relation,
            "object": {"name": self.value, "type": "Value"},
            "fact": f"Statement {self.number}: {self.subject} {self.relation.lower().replace('_', ' ')} {self.value}",
            "valid_at": self.at.isoformat(),
            "cardinality": "one" if self.one else "many",
        }


def stream(statements: int, slots: int, seed: int) -> list[Numbered]:
    """The statements in the order of their dates, which are an hour apart."""
    chance = random.Random(seed)
    made = []
    for number in range(statements):
        slot = number if number < slots else chance.randrange(slots)
        at = START + timedelta(hours=number)
        word = chance.randrange(VALUES)
        made.append(Numbered(number, slot, slot % 5 < 3, f"value {slot:04d}-{word}", at, f"s{number}"))
    return made


def orders(told: Sequence[Numbered], seed: int) -> dict[str, list[Numbered]]:
    """The same statements as they may arrive."""
    chance = random.Random(seed)
    shuffled = chance.sample(told, len(told))
    late = chance.sample(range(len(told)), len(told) // 5)
    place = {i: chance.uniform(i, len(told)) if i in set(late) else float(i) for i in range(len(told))}
    repeated = list(told)
    for count, again in enumerate(chance.sample(told, len(told) // 20)):
        copy = again if count % 2 else replace(again, event=f"{again.event}-again")
        repeated.insert(chance.randrange(repeated.index(again) + 1, len(repeated) + 1), copy)
    return {
        "in order": list(told),
        "shuffled": shuffled,
        "20 % late": [told[i] for i in sorted(place, key=lambda i: (place[i], i))],
        "5 % repeated": repeated,
    }


def expected(told: Sequence[Numbered]) -> dict[int, Counter[tuple[str, Span]]]:
    """By slot, the intervals of its values: what a reader of the whole list would write down."""
    by_slot: dict[int, list[Numbered]] = defaultdict(list)
    for item in sorted(set(told), key=lambda n: n.at):
        by_slot[item.slot].append(item)
    result: dict[int, Counter[tuple[str, Span]]] = {}
    for slot, items in by_slot.items():
        spans: list[tuple[str, Span]] = []
        if items[0].one:
            for item in items:
                if spans and spans[-1][0] == item.value:
                    continue
                if spans:
                    spans[-1] = (spans[-1][0], (spans[-1][1][0], item.at))
                spans.append((item.value, (item.at, None)))
        else:
            first = {i.value: i.at for i in reversed(items)}
            spans = [(value, (at, None)) for value, at in first.items()]
        result[slot] = Counter(spans)
    return result


class Line:
    """The stages over one store, without communities."""

    def __init__(self, store: GraphStore, reader: GraphReader) -> None:
        embedder, observer = HashingEmbedder(DIMENSION), SilentObserver()
        self._now = datetime(2025, 1, 1, tzinfo=UTC)
        self.reader = reader
        extractor = RoutingExtractor(TriplesExtractor())
        self.extract = ExtractStage(store, extractor, embedder, self._clock, observer)
        self.entities = ResolveEntitiesStage(store, embedder, self._clock, observer)
        self.facts = ResolveFactsStage(store, embedder, self._clock, observer)

    def _clock(self) -> datetime:
        self._now += timedelta(microseconds=1)
        return self._now

    async def run(self, group: str, sequence: int, item: Numbered) -> None:
        """One statement as one episode."""
        episode = Episode(
            id=item.event,
            group_id=group,
            source=Source.triples,
            content=[item.triple()],
            reference_time=item.at,
            sequence=sequence,
        )
        extracted = await self.extract.run(episode)
        if extracted.output is None:
            return
        resolved = await self.entities.run(ExtractedEpisode.model_validate_json(extracted.output))
        if resolved.output is not None:
            await self.facts.run(ResolvedEpisode.model_validate_json(resolved.output))

    async def spans(self, group: str, item: Numbered) -> Counter[tuple[str, Span]]:
        """What the graph says of the slot of a statement."""
        episode = await self.reader.episode(group, item.event)
        unit = next(e for e in episode.entities if e.name == item.subject) if episode else None
        facts = await self.reader.entity_facts(group, unit.id) if unit else []
        shown = [v for f in facts or () if (v := view(f)) is not None]
        return Counter((v.target.name, (v.valid_at or START, v.invalid_at)) for v in shown)


async def measure(line: Line, name: str, told: Sequence[Numbered]) -> bool:
    """Run one order and compare; whether all is right."""
    group = f"bench-consolidation-{uuid.uuid4().hex}"
    began = time.perf_counter()
    for sequence, item in enumerate(told):
        await line.run(group, sequence, item)
    seconds = time.perf_counter() - began
    right = expected(told)
    first = {item.slot: item for item in reversed(told)}
    found = {slot: await line.spans(group, item) for slot, item in first.items()}
    ones = [slot for slot, item in first.items() if item.one]
    many = [slot for slot, item in first.items() if not item.one]
    current = sum(_current(found[s]) == _current(right[s]) for s in ones)
    whole = sum(found[s] == right[s] for s in ones)
    closed = sum(n for s in many for (_, (_, end)), n in found[s].items() if end is not None)
    facts = sum(sum(found[s].values()) for s in many)
    other = sum(((found[s] - right[s]) + (right[s] - found[s])).total() for s in many)
    print(
        f"{name:<13} {len(told):>6} statements  one: current {current}/{len(ones)}, history {whole}/{len(ones)}"
        f"  additive: {facts} facts, wrongly closed {closed}, missing or other {other}  {seconds:.0f} s",
        flush=True,
    )
    return current == whole == len(ones) and closed == other == 0


def _current(spans: Counter[tuple[str, Span]]) -> set[str]:
    return {value for value, (_, end) in spans if end is None}


async def measure_all(options: argparse.Namespace) -> bool:
    """Every order through the stages."""
    told = stream(options.statements, options.slots, options.seed)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "graph.db"
        store: GraphStore = SqliteGraphStore(path, dimension=DIMENSION)
        reader: GraphReader = SqliteGraphReader(path)
        if options.bolt:
            store = Neo4jGraphStore(options.bolt, dimension=DIMENSION)
            reader = Neo4jGraphReader(Neo4jConnection(options.bolt, None, None, "neo4j", SilentObserver()))
        await store.open()
        await reader.open()
        try:
            line = Line(store, reader)
            done = [await measure(line, n, o) for n, o in orders(told, options.seed).items()]
        finally:
            await reader.close()
            await store.close()
    return all(done)


def beside(options: argparse.Namespace) -> None:
    """A smaller stream through both, in the same run."""
    count = options.graphiti_statements
    told = stream(count, max(1, count // 10), options.seed)
    print(f"beside graphiti-core on Neo4j: {count} statements over {max(1, count // 10)} slots")
    smaller = argparse.Namespace(**{**vars(options), "statements": count, "slots": max(1, count // 10)})
    asyncio.run(measure_all(smaller))
    python = options.graphiti_venv / "bin" / "python"
    if not python.exists():
        venv.create(options.graphiti_venv, with_pip=True)
        subprocess.run(
            [python, "-m", "pip", "install", "-q", f"graphiti-core=={GRAPHITI}", "httpx"], check=True
        )
    sent = {
        name: [
            {
                "number": n.number,
                "one": n.one,
                "subject": n.subject,
                "relation": n.relation,
                "value": n.value,
                "at": n.at.isoformat(),
                "sentence": n.triple()["fact"],
            }
            for n in order
        ]
        for name, order in orders(told, options.seed).items()
    }
    right = {item.subject: (item.one, _current(expected(told)[item.slot])) for item in told}
    for same in ("value", "statement"):
        _graphiti(python, options.bolt, same, sent, right)


def _graphiti(
    python: Path, bolt: str, same: str, sent: dict[str, Any], right: dict[str, tuple[bool, set[str]]]
) -> None:
    script = Path(__file__).with_name("graphiti_line.py")
    done = subprocess.run(
        [python, "-P", script, "--bolt", bolt, "--same", same],
        input=json.dumps(sent).encode(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
    )
    answer = json.loads(done.stdout)
    print(
        f"graphiti-core {GRAPHITI}, model to which the same {same} is the same fact: {answer['calls']} calls"
    )
    ones = [s for s, (one, _) in right.items() if one]
    many = [s for s, (one, _) in right.items() if not one]
    for name, facts in answer["facts"].items():
        found: dict[str, set[str]] = defaultdict(set)
        closed: dict[str, int] = defaultdict(int)
        for subject, _, value, _, is_open in facts:
            if is_open:
                found[subject].add(value)
            else:
                closed[subject] += 1
        nothing = sum(not found[s] for s in ones)
        print(
            f"{name:<13} one: current {sum(found[s] == right[s][1] for s in ones)}/{len(ones)}"
            f" (nothing current in {nothing})  additive: wrongly closed {sum(closed[s] for s in many)},"
            f" missing or other {sum(len(found[s] ^ right[s][1]) for s in many)}",
            flush=True,
        )


def main() -> None:
    """Measure; see the module."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--statements", type=int, default=5000)
    parser.add_argument("--slots", type=int, default=500)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--bolt", help="use Neo4j at this address instead of SQLite")
    parser.add_argument("--graphiti-venv", type=Path, help="also run graphiti-core, installed in this folder")
    parser.add_argument("--graphiti-statements", type=int, default=100)
    options = parser.parse_args()
    if options.graphiti_venv and not options.bolt:
        parser.error("--graphiti-venv needs --bolt: both run on the same Neo4j")
    print(f"factstream on {'Neo4j' if options.bolt else 'SQLite'}, {options.slots} slots")
    right = asyncio.run(measure_all(options))
    if options.graphiti_venv:
        beside(options)
    sys.exit(0 if right else 1)


if __name__ == "__main__":
    main()
