"""A graph in Neo4j, written as Graphiti writes it, into a graph file and into Neo4j; read only, through kills."""

from __future__ import annotations

import asyncio
import os
import random
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from factstream.graphiti.converting import Converting, groups_of, rows_of
from factstream.graphiti.report import Report
from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer.archive_file import Archive
from factstream.transfer.into_file import restore_into_file
from factstream.transfer.restoring import Restoring
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import digest, summary
from pipeline.graph.neo4j.archive import Neo4jArchiveTarget
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.observer import SilentObserver

pytestmark = pytest.mark.integration

DIMENSION = 384
SETTINGS = Settings(embedder="hashing")
# As graphiti-core 0.31 leaves it, and beside that what older versions, other tools and hands have left in such graphs.
GRAPH = """CYPHER 25
CREATE (e1:Episodic {uuid: 'e1', group_id: $g, name: 'm1', source: 'message', source_description: 'chat',
        content: 'Ana: I work at Globex.', valid_at: datetime('2024-01-01T10:00:00Z'),
        created_at: datetime('2025-01-01T00:00:00.123456789Z'), entity_edges: ['f1']}),
    (e2:Episodic {uuid: 'e2', group_id: $g, name: 'm2', source: 'message', source_description: 'chat',
        content: '王晓岚: 我搬到了杭州。', valid_at: localdatetime('2024-02-01T10:00:00'),
        created_at: datetime('2025-01-02T00:00:00Z'), entity_edges: []}),
    (e3:Episodic {uuid: 'e3', group_id: $g, source: 'video', valid_at: '2024-03-01'}),
    (:Saga {uuid: 's1', group_id: $g, name: 'a saga'})-[:HAS_EPISODE]->(e1),
    (ana:Entity:Person {uuid: 'ana', group_id: $g, name: 'Ana', summary: 'Ana works at Initech.', age: 41,
        labels: ['Entity', 'Person'], created_at: datetime('2025-01-01T00:00:01Z')}),
    (globex:Entity:Company {uuid: 'globex', group_id: $g, name: 'Globex', created_at: datetime('2025-01-01T00:00:01Z')}),
    (initech:Entity:Company:Customer {uuid: 'initech', group_id: $g, name: 'Initech',
        created_at: datetime('2025-01-01T00:00:02Z')}),
    (wang:Entity {uuid: 'wang', group_id: $g, name: '王晓岚', created_at: datetime('2025-01-02T00:00:01Z')}),
    (hangzhou:Entity {uuid: 'hangzhou', group_id: $g, name: '杭州', created_at: datetime('2025-01-02T00:00:01Z')}),
    (nobody:Entity {group_id: $g, name: 'No id'}),
    (other:Entity {uuid: 'other', group_id: $other, name: 'Other tenant', created_at: datetime('2025-01-02T00:00:01Z')}),
    (e1)-[:MENTIONS {uuid: 'm1', group_id: $g, created_at: datetime('2025-01-01T00:00:02Z')}]->(ana),
    (e1)-[:MENTIONS {uuid: 'm2', group_id: $g}]->(globex),
    (e2)-[:MENTIONS {uuid: 'm3', group_id: $g}]->(wang),
    (e2)-[:MENTIONS {uuid: 'm4', group_id: $g}]->(nobody),
    (ana)-[:RELATES_TO {uuid: 'f1', group_id: $g, name: 'WORKS_AT', fact: 'Ana works at Globex', episodes: ['e1'],
        valid_at: datetime('2024-01-01T00:00:00Z'), invalid_at: datetime('2024-06-01T00:00:00Z'),
        created_at: datetime('2025-01-01T00:00:03Z'), expired_at: datetime('2025-01-05T00:00:00Z'),
        role: 'engineer'}]->(globex),
    (ana)-[:RELATES_TO {uuid: 'f2', group_id: $g, name: 'WORKS_AT', fact: 'Ana works at Initech', episodes: ['lost'],
        valid_at: datetime('2024-06-01T00:00:00Z'), created_at: datetime('2025-01-05T00:00:00Z')}]->(initech),
    (wang)-[:RELATES_TO {uuid: 'f3', group_id: $g, name: 'LIVES_IN', fact: '王晓岚住在杭州', episodes: ['e2'],
        valid_at: datetime('2024-02-01T00:00:00Z'), created_at: datetime('2025-01-02T00:00:03Z')}]->(hangzhou),
    (ana)-[:RELATES_TO {uuid: 'f4', group_id: $g, name: 'KNOWS', episodes: ['e1']}]->(other),
    (ana)-[:RELATES_TO {uuid: 'f5', group_id: $g, name: 'KNOWS', fact: 'backwards', episodes: ['e1'],
        valid_at: datetime('2024-02-01T00:00:00Z'), invalid_at: datetime('2024-01-01T00:00:00Z')}]->(wang),
    (c:Community {uuid: 'c1', group_id: $g, name: 'Both', summary: 'Ana and Globex',
        created_at: datetime('2025-02-01T00:00:00Z')})-[:HAS_MEMBER {uuid: 'h1', group_id: $g}]->(ana),
    (c)-[:HAS_MEMBER {uuid: 'h2', group_id: $g}]->(globex)
"""
MANY = """CYPHER 25
UNWIND range(0, 299) AS n
CREATE (p:Episodic {uuid: 'e' + n, group_id: $g, name: 'm' + n, source: 'message', content: 'Ana: number ' + n,
        valid_at: datetime('2024-01-01T00:00:00Z') + duration({hours: n}), created_at: datetime('2025-01-01T00:00:00Z')}),
    (a:Entity {uuid: 'a' + n, group_id: $g, name: 'Person ' + n, created_at: datetime('2025-01-01T00:00:00Z')}),
    (b:Entity {uuid: 'b' + n, group_id: $g, name: 'Thing ' + n, created_at: datetime('2025-01-01T00:00:00Z')}),
    (p)-[:MENTIONS {uuid: 'm' + n, group_id: $g}]->(a),
    (a)-[:RELATES_TO {uuid: 'f' + n, group_id: $g, name: 'OWNS', fact: 'Person ' + n + ' owns thing ' + n,
        episodes: ['e' + n], valid_at: datetime('2024-01-01T00:00:00Z'), created_at: datetime('2025-01-01T00:00:00Z')}]->(b)
"""
STATE = """
MATCH (n) WHERE n.group_id IN $groups OPTIONAL MATCH (n)-[r]->()
RETURN labels(n) AS labels, properties(n) AS props, count(r) AS out ORDER BY props.uuid, props.name
"""
CLEAN = "MATCH (n) WHERE n.group_id IN $groups DETACH DELETE n"


@pytest_asyncio.fixture
async def neo4j(bolt_uri: str) -> AsyncIterator[Neo4jConnection]:
    connection = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    await connection.open()
    yield connection
    await connection.close()


@pytest_asyncio.fixture
async def groups(neo4j: Neo4jConnection) -> AsyncIterator[list[str]]:
    """A group that Graphiti wrote, its neighbour, and the name that it is imported under."""
    name = f"graphiti {uuid.uuid4().hex[:8]}"
    made = [name, f"{name} other", f"{name} 导入"]
    await neo4j.write("fixture", GRAPH, {"g": made[0], "other": made[1]})
    yield made
    await neo4j.write("fixture", CLEAN, {"groups": made})


async def converted(neo4j: Neo4jConnection, group: str, name: str, folder: Path) -> tuple[Archive, Report]:
    rows: list[int] = []
    converting = Converting(neo4j, DIMENSION, vectors=False, at=datetime.now(UTC))
    file, reports = folder / "graphiti.jsonl", folder / "reports"
    await converting.run({group: name}, file, reports, lambda: rows.append(1))
    assert len(rows) == await rows_of(neo4j, group)
    return Archive(file), Report.read(reports)


async def test_a_group_comes_over_and_the_source_stays(
    neo4j: Neo4jConnection, groups: list[str], tmp_path: Path
) -> None:
    group, neighbour, name = groups
    assert set(await groups_of(neo4j)) >= {group, neighbour}
    before = await neo4j.run("state", STATE, {"groups": [group, neighbour]})
    archive, report = await converted(neo4j, group, group, tmp_path)
    assert {k: v for k, v in report.counts.items() if k.startswith("lost")} == {
        "lost_no_id": 1,
        "lost_mention": 1,
        "lost_elsewhere": 1,
        "lost_inverted": 1,
    }
    file = tmp_path / "g.db"
    settings = SETTINGS.model_copy(update={"embedder": "hashing"})
    archive_256, _ = await _again(neo4j, group, group, tmp_path)
    await restore_into_file(archive_256, file, settings, lambda _: None)
    async with Memory(file, settings=settings) as memory:
        facts = {f.id: f for f in await memory.facts(group)}
        assert {i: (f.fact, f.valid_at, f.invalid_at) for i, f in facts.items()} == {
            "f1": ("Ana works at Globex", datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC)),
            "f2": ("Ana works at Initech", datetime(2024, 6, 1, tzinfo=UTC), None),
            "f3": ("王晓岚住在杭州", datetime(2024, 2, 1, tzinfo=UTC), None),
        }
        (early,) = await memory.facts(group, "Globex", known_at="2025-01-03")
        assert early.invalid_at is None
        assert (facts["f1"].attributes, facts["f1"].expired_at) == (
            {"role": "engineer"},
            datetime(2025, 1, 5, tzinfo=UTC),
        )
        people = {e.name: e for e in await memory.entities(group)}
        assert people["Ana"].summary == "Ana works at Initech."
        assert (people["Ana"].labels, people["Ana"].attributes) == (("Entity", "Person"), {"age": 41})
        one = await memory.episode(group, "e1")
        assert one is not None
        assert {f.id for f in one.facts} == {"f1"}
        found = await memory.search("王晓岚住在哪里？", group_ids=group)
        assert found.facts[0].id == "f3"
        # It is carried on: a change of the same person finds her, and closes nothing of others.
        await memory.add(
            {
                "group_id": group,
                "source": "triples",
                "content": [
                    {
                        "subject": {"name": "Ana", "type": "Person"},
                        "relation": "WORKS_AT",
                        "object": {"name": "Initech", "type": "Company"},
                        "invalid_at": "2025-09-01",
                        "valid_at": "2024-06-01",
                    }
                ],
            }
        )
        (now,) = [f for f in await memory.facts(group, "ana") if f.id == "f2"]
        assert now.invalid_at == datetime(2025, 9, 1, tzinfo=UTC)

    target = Neo4jArchiveTarget(neo4j, DIMENSION)
    (tmp_path / "n").mkdir()
    archive, _ = await converted(neo4j, group, name, tmp_path / "n")
    told = await Restoring(target, HashingEmbedder(DIMENSION), system_clock).run(archive, lambda _: None)
    assert told.counts["fact"] == 3
    there = summary(await Neo4jDump(neo4j).dump(name))
    assert sorted(f["text"] for f in there["facts"]) == sorted(f.fact for f in facts.values())
    assert await neo4j.run("state", STATE, {"groups": [group, neighbour]}) == before


async def _again(neo4j: Neo4jConnection, group: str, name: str, folder: Path) -> tuple[Archive, Report]:
    """The same for vectors of the hashing embedder's own length."""
    converting = Converting(neo4j, HashingEmbedder().dimension, vectors=False, at=datetime.now(UTC))
    file = folder / "short.jsonl"
    await converting.run({group: name}, file, folder / "short.reports", lambda: None)
    return Archive(file), Report.read(folder / "short.reports")


async def test_an_import_that_is_killed_again_and_again_is_whole_in_the_end(
    neo4j: Neo4jConnection, groups: list[str], bolt_uri: str, tmp_path: Path
) -> None:
    group = groups[2]
    await neo4j.write("fixture", MANY, {"g": group})
    chance = random.Random(4)

    def run(file: Path) -> subprocess.Popen[bytes]:
        command = ["import", "graphiti", "--from", bolt_uri, "-g", group, "--graph", str(file)]
        return subprocess.Popen(
            [sys.executable, "-m", "factstream", *command, "--work", str(file) + "-work"],
            env={**os.environ, "FACTSTREAM_EMBEDDER": "hashing"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )

    calm, wild = tmp_path / "calm.db", tmp_path / "wild.db"
    started = time.monotonic()
    process = run(calm)
    told, _ = process.communicate(timeout=300)
    assert process.returncode == 0, told.decode()
    needed = time.monotonic() - started
    for _ in range(4):
        process = run(wild)
        await asyncio.sleep(needed * chance.uniform(0.3, 0.95))
        process.kill()
        process.communicate(timeout=300)
    process = run(wild)
    told, _ = process.communicate(timeout=300)
    finished = process.returncode == 0 or "there already" in told.decode()
    assert finished, told.decode()
    dumps: list[Any] = [await SqliteDump(path).dump(group) for path in (calm, wild)]
    assert digest(dumps[0]) == digest(dumps[1])
    assert [f.id for f in dumps[1].facts] == sorted(f"f{n}" for n in range(300))
