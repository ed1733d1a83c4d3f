"""A group as records: every store tells what it holds, and takes in what another has told."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from pipeline.errors import Poison
from pipeline.graph.archive import (
    ArchiveSource,
    ArchiveTarget,
    EntityRecord,
    EvidenceRecord,
    FactRecord,
    MarkRecord,
    Record,
    packed,
    records,
    unpacked,
)
from pipeline.graph.digest import digest
from pipeline.graph.neo4j.archive import Neo4jArchiveSource, Neo4jArchiveTarget
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.search import Scope
from pipeline.graph.sqlite.archive import SqliteArchiveSource, SqliteArchiveTarget
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.model.episode import EpisodeRef
from pipeline.model.judgement import JudgedEpisode
from pipeline.observer import SilentObserver
from tests.contract.conftest import open_neo4j, open_sqlite
from tests.contract.curation_kit import Teller, believed, says
from tests.contract.kit import DIMENSION, Graph, day

CHUNK = 7


@dataclass
class Place:
    """A graph with everything that an archive needs of it."""

    graph: Graph
    source: ArchiveSource
    target: ArchiveTarget
    path: Path | None
    uri: str = ""

    async def digest(self, group: str) -> str:
        if self.path is not None:
            return digest(await SqliteDump(self.path).dump(group))
        connection = Neo4jConnection(self.uri, None, None, "neo4j", SilentObserver())
        await connection.open()
        try:
            return digest(await Neo4jDump(connection).dump(group))
        finally:
            await connection.close()

    async def told(self, group: str) -> list[Record]:
        found: list[Record] = []
        await self.source.tell(group, found.append)
        return found


def sqlite(path: Path) -> Place:
    graph = open_sqlite(path.parent, path.name)
    return Place(graph, SqliteArchiveSource(path), SqliteArchiveTarget(path, DIMENSION), path)


def neo4j(uri: str) -> Place:
    def connection() -> Neo4jConnection:
        return Neo4jConnection(uri, None, None, "neo4j", SilentObserver())

    graph = open_neo4j(uri)
    source, target = Neo4jArchiveSource(connection()), Neo4jArchiveTarget(connection(), DIMENSION)
    return Place(graph, source, target, None, uri)


async def opened(place: Place) -> AsyncIterator[Place]:
    parts = (place.graph.store, place.graph.reader, place.source, place.target)
    for part in parts:
        await part.open()
    try:
        yield place
    finally:
        for part in reversed(parts):
            await part.close()


@pytest_asyncio.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.integration)])
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    made = (
        sqlite(tmp_path / "one.db")
        if request.param == "sqlite"
        else neo4j(request.getfixturevalue("bolt_uri"))
    )
    async for open_ in opened(made):
        yield open_


@pytest_asyncio.fixture
async def file(tmp_path: Path) -> AsyncIterator[Place]:
    async for open_ in opened(sqlite(tmp_path / "other.db")):
        yield open_


@pytest.fixture
def group() -> str:
    return f"archive 组/{uuid.uuid4().hex[:8]}"


async def history(place: Place, group: str) -> Teller:
    """Facts that follow each other, a late one, a repeated one, a merge, a correction's trace, and a forgotten one."""
    teller = Teller(place.graph, group)
    one = {"cardinality": "one", "types": ("Person", "City")}
    await teller.tell(says("Ana", "LIVES_IN", "Leeds", valid_at="2020-01-01", **one), at=1)
    await teller.tell(says("Ana", "LIVES_IN", "Porto", valid_at="2022-01-01", **one), at=2)
    await teller.tell(says("Ana", "LIVES_IN", "Ghent", valid_at="2021", **one), at=3)
    await teller.tell(says("Ana", "KNOWS", "王晓岚"), says("王晓岚", "KNOWS", "Zoë Müller"), at=4)
    await teller.tell(says("Ana", "KNOWS", "王晓岚", invalid_at="2024-05-01"), at=5)
    await teller.tell(says("Bo", "KNOWS", "Zoe Muller"), at=5)
    await teller.operator.merge(group, await teller.named("Zoe Muller"), await teller.named("Zoë Müller"))
    await teller.tell(says("Ana", "OWNS", "LaserFox 300", attributes={"since": 2019}), at=6, name="gone")
    await teller.operator.forget_episodes(group, ["gone"])
    teller.now += timedelta(seconds=1)
    return teller


def plain(found: list[Record]) -> list[str]:
    """Records without their vectors, in an order of their own."""
    bare = [r.model_copy(update={"vector": None}) if hasattr(r, "vector") else r for r in found]
    return sorted(records.dump_json(one).decode() for one in bare)


def vectors(found: list[Record]) -> dict[str, list[float]]:
    return {
        r.text: unpacked(r.vector) for r in found if isinstance(r, EntityRecord | FactRecord) and r.vector
    }


async def move(found: list[Record], to: Place, group: str, name: str) -> None:
    for first in range(0, len(found), CHUNK):
        chunk = found[first : first + CHUNK]
        await to.target.restore(name, group, chunk, first + len(chunk), day(200))


@pytest.mark.parametrize("way", ["out", "in"])
async def test_a_group_is_the_same_in_another_store(place: Place, file: Place, group: str, way: str) -> None:
    one, other = (place, file) if way == "out" else (file, place)
    await history(one, group)
    found = await one.told(group)
    assert {r.kind for r in found} >= {
        "group",
        "episode",
        "entity",
        "contribution",
        "evidence",
        "fact",
        "mark",
    }
    assert found[0].kind == "group"
    assert await other.target.occupied([group]) == []
    assert group in await one.source.groups()

    await move(found, other, group, group)
    assert await other.target.occupied([group, "not there"]) == [group]
    assert await other.target.restored(group) == len(found)
    again = await other.told(group)
    assert plain(again) == plain(found)
    before, after = vectors(found), vectors(again)
    assert before.keys() == after.keys()
    assert all(np.allclose(before[text], after[text], atol=1e-6) for text in before)
    assert await other.digest(group) == await one.digest(group)
    assert believed(await other.graph.store.ledger(group)) == believed(await one.graph.store.ledger(group))
    assert not await other.graph.store.traces(group, "LaserFox")


async def test_taking_in_again_changes_nothing(place: Place, file: Place, group: str) -> None:
    await history(file, group)
    found = [_with_verdict(record) for record in await file.told(group)]
    await move(found, place, group, group)
    await move(found, place, group, group)
    assert plain(await place.told(group)) == plain(found)


def _with_verdict(record: Record) -> Record:
    if isinstance(record, MarkRecord) and record.stage == "resolve_facts" and not record.forgotten:
        ref = EpisodeRef(id=record.episode_id, group_id="g", reference_time=day(1), sequence=1)
        verdicts = JudgedEpisode(episode=ref, stage=record.stage)
        return record.model_copy(update={"judged": verdicts.model_dump_json()})
    return record


@pytest.mark.parametrize("way", ["out", "in"])
async def test_the_history_goes_on_where_it_was(place: Place, file: Place, group: str, way: str) -> None:
    one, other = (place, file) if way == "out" else (file, place)
    teller = await history(one, group)
    await move(await one.told(group), other, group, group)
    there = Teller(other.graph, group, now=teller.now, count=teller.count)
    for told in (teller, there):
        await told.tell(says("Ana", "LIVES_IN", "Cork", valid_at="2023-01-01", cardinality="one"), at=9)
        await told.operator.forget_episodes(group, ["e1"])
    assert believed(await other.graph.store.ledger(group)) == believed(await one.graph.store.ledger(group))
    assert await other.digest(group) == await one.digest(group)
    # What was forgotten before the move does not come back after it.
    gone = teller.episode([says("Ana", "OWNS", "LaserFox 300")], at=6, name="gone")
    received = await other.graph.store.receive(gone, None, 4, there.now)
    assert received.mark is not None
    assert await other.graph.reader.episode(group, "gone") is None


async def test_what_was_taken_in_is_found(place: Place, file: Place, group: str) -> None:
    await history(file, group)
    await move(await file.told(group), place, group, group)
    candidates = await place.graph.search(group, "王晓岚", scopes=(Scope.entities, Scope.facts))
    entities = {entity.name for entity in candidates.items[Scope.entities].values()}  # type: ignore[union-attr]
    assert "王晓岚" in entities
    assert candidates.items[Scope.facts]


@pytest.mark.parametrize("kind", ["fact", "contribution"])
async def test_a_record_that_refers_to_nothing_is_refused(
    place: Place, file: Place, group: str, kind: str
) -> None:
    await history(file, group)
    found = [r for r in await file.told(group) if r.kind in ("group", "episode", kind)]
    with pytest.raises(Poison, match="not"):
        await move(found, place, group, group)
    assert await place.target.restored(group) < len(found)


@pytest.mark.parametrize("values", [[0.0], [1.5, -2.25, 0.0], [0.1] * DIMENSION])
def test_a_vector_is_the_same_text_again(values: list[float], group: str) -> None:
    text = packed(values)
    assert packed(unpacked(text)) == text
    assert np.allclose(unpacked(text), values)


def test_every_record_reads_what_it_writes(group: str) -> None:
    record = EvidenceRecord.model_validate(
        {
            "evidence": {
                "id": "e", "episode_id": "p", "subject": "a", "relation": "R", "object": "b",
                "reference_time": day(1), "sequence": 1, "recorded_at": day(1),
            }
        }
    )  # fmt: skip
    assert records.validate_json(records.dump_json(record)) == record
