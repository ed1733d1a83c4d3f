"""Graphs of older versions become graphs of this one, batch by batch, whatever happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio

from pipeline.errors import NewerFormat, Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import Lane, begin
from pipeline.graph.neo4j.migrating import Migrating
from pipeline.graph.neo4j.migrations import STEPS
from pipeline.graph.neo4j.schema import SCHEMA_VERSION
from pipeline.observer import SilentObserver
from pipeline.text.analysis import terms
from tests.contract.conftest import open_neo4j
from tests.contract.curation_kit import Teller, says
from tests.contract.kit import Graph

pytestmark = pytest.mark.integration

# As version 1 analysed them: whole words.
OLD_TEXTS = """CYPHER 25
UNWIND $rows AS w
MATCH (x {group_id: $group, uuid: w.id}) SET x.fs_text = w.text
"""
OLD_FACTS = """CYPHER 25
UNWIND $rows AS w
MATCH ()-[x:RELATES_TO {group_id: $group, uuid: w.id}]->() SET x.fs_text = w.text
"""
TEXTS = """CYPHER 25
MATCH (x) WHERE x.group_id = $group AND x.fs_text IS NOT NULL
RETURN x.uuid AS id, coalesce(x.content, x.name + ' ' + x.summary) AS told, x.fs_text AS text
UNION ALL
MATCH ()-[x:RELATES_TO]->() WHERE x.group_id = $group
RETURN x.uuid AS id, x.fact AS told, x.fs_text AS text
"""


class Killed(BaseException):
    """Nothing catches it, as nothing catches a kill."""


@pytest_asyncio.fixture
async def connection(bolt_uri: str) -> AsyncIterator[Neo4jConnection]:
    made = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    await made.open()
    yield made
    await made.close()


@pytest_asyncio.fixture
async def graph(bolt_uri: str) -> AsyncIterator[Graph]:
    made = open_neo4j(bolt_uri)
    await made.store.open()
    await made.reader.open()
    yield made
    await made.reader.close()
    await made.store.close()


def migrating(connection: Neo4jConnection, *groups: str, batch: int = 2) -> Migrating:
    """The real steps over groups of the test's own; the version stands at a node of the test's own."""
    names = {"graph": f"graph {groups[0]}", "note": f"note {groups[0]}"}
    return Migrating(connection, STEPS, batch=batch, within=groups, **names)


async def old_graph(graph: Graph, connection: Neo4jConnection, group: str) -> dict[str, str]:
    """A group as version 1 left it; by id, its texts of now."""
    teller = Teller(graph, group)
    for number in range(4):
        await teller.tell(says("Ana", "PAINTS", f"Portraits of {number} friends"))
    rows = await connection.run("old", TEXTS, {"group": group})
    now = {row["id"]: row["text"] for row in rows}
    words = [{"id": row["id"], "text": " ".join(terms(row["told"]))} for row in rows]
    for statement in (OLD_TEXTS, OLD_FACTS):
        await connection.write("old", statement, {"group": group, "rows": words})
    await connection.write(
        "old", "MERGE (s:FactstreamSchema {name: $name}) SET s.version = 1", {"name": f"graph {group}"}
    )
    assert await texts(connection, group) != now
    return now


async def texts(connection: Neo4jConnection, group: str) -> dict[str, str]:
    return {row["id"]: row["text"] for row in await connection.run("texts", TEXTS, {"group": group})}


async def node(connection: Neo4jConnection, name: str) -> dict[str, Any]:
    rows = await connection.run(
        "node", "MATCH (s:FactstreamSchema {name: $name}) RETURN properties(s) AS p", {"name": name}
    )
    return dict(rows[0]["p"])


@pytest.mark.parametrize("batch", [1, 2, 500])
async def test_texts_are_analysed_again(
    graph: Graph, connection: Neo4jConnection, group: str, other_group: str, batch: int
) -> None:
    expected = await old_graph(graph, connection, group)
    neighbour = await old_graph(graph, connection, other_group)
    assert await migrating(connection, group, batch=batch).run(1) == SCHEMA_VERSION
    assert await texts(connection, group) == expected
    assert await texts(connection, other_group) != neighbour
    found = await graph.found(group, "who is painting a portrait?", as_of=None)
    assert len(found) == 4
    assert (await node(connection, f"graph {group}")) == {
        "name": f"graph {group}",
        "version": SCHEMA_VERSION,
    }
    # Nothing is left to do.
    assert await migrating(connection, group).run(SCHEMA_VERSION) == SCHEMA_VERSION


@pytest.mark.parametrize("dies_at", range(1, 9))
async def test_after_a_kill_another_goes_on_where_it_was(
    graph: Graph, connection: Neo4jConnection, group: str, dies_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = await old_graph(graph, connection, group)
    inner, batches = Migrating._note, 0

    async def dying(self: Migrating, *args: Any) -> None:
        nonlocal batches
        batches += 1
        # Every second death is before the commit of its batch.
        if batches == dies_at and dies_at % 2:
            raise Killed
        await inner(self, *args)
        if batches == dies_at:
            raise Killed

    monkeypatch.setattr(Migrating, "_note", dying)
    died = migrating(connection, group)
    with pytest.raises(Killed):
        await died.run(1)
    monkeypatch.undo()
    between = await node(connection, f"graph {group}")
    assert (between["version"], between["migrating"]) == (1, SCHEMA_VERSION)
    # Its lease has not run out: whoever comes waits.
    with pytest.raises(Retryable, match="is being brought to a newer version by process"):
        await migrating(connection, group).run(1)
    await connection.write(
        "expire", "MATCH (s:FactstreamSchema {name: $name}) SET s.until = 0", {"name": f"note {group}"}
    )
    committed = dies_at - 1
    done = 0

    async def counting(self: Migrating, *args: Any) -> None:
        nonlocal done
        done += 1
        await inner(self, *args)

    monkeypatch.setattr(Migrating, "_note", counting)
    assert await migrating(connection, group).run(1) == SCHEMA_VERSION
    assert await texts(connection, group) == expected
    whole = 8
    assert done <= whole - committed + 1


async def test_of_two_at_once_one_does_it(graph: Graph, connection: Neo4jConnection, group: str) -> None:
    expected = await old_graph(graph, connection, group)
    runs = [migrating(connection, group, batch=1).run(1) for _ in range(5)]
    answers = await asyncio.gather(*runs, return_exceptions=True)
    assert answers.count(SCHEMA_VERSION) == 1
    assert sum(isinstance(answer, Retryable) for answer in answers) == 4
    assert await texts(connection, group) == expected


async def test_one_that_was_overtaken_writes_nothing_more(
    graph: Graph, connection: Neo4jConnection, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = await old_graph(graph, connection, group)
    slow = migrating(connection, group)
    inner = Migrating._part
    overtaken = False

    async def frozen(self: Migrating, *args: Any) -> None:
        nonlocal overtaken
        if self is slow and not overtaken:
            overtaken = True
            await connection.write(
                "expire",
                "MATCH (s:FactstreamSchema {name: $name}) SET s.until = 0",
                {"name": f"note {group}"},
            )
            await migrating(connection, group).run(1)
        await inner(self, *args)

    monkeypatch.setattr(Migrating, "_part", frozen)
    with pytest.raises(Retryable, match="taken over"):
        await slow.run(1)
    assert await texts(connection, group) == expected


async def test_a_program_that_runs_writes_no_more_into_a_newer_format(
    graph: Graph, connection: Neo4jConnection, group: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # To the program the graph that is there is a newer one.
    for module in ("schema", "episode_writes"):
        monkeypatch.setattr(f"pipeline.graph.neo4j.{module}.SCHEMA_VERSION", SCHEMA_VERSION - 1)
    teller = Teller(graph, group)
    with pytest.raises(NewerFormat, match="use a newer program"):
        await teller.tell(says("Ana", "KNOWS", "Bob"))
    for stage in ("resolve_entities", "resolve_facts", "update_communities"):
        with pytest.raises(NewerFormat, match="use a newer program"):
            async with begin(connection, Lane(group, stage), 0):
                raise AssertionError("begun")
    with pytest.raises(NewerFormat, match="use a newer program"):
        await graph.store.erase_group(group, {}, ("n", "{}"))
    with pytest.raises(NewerFormat, match="use a newer program"):
        await graph.store.open()
    rows = await connection.run("left", "MATCH (n) WHERE n.group_id = $group RETURN n", {"group": group})
    assert rows == []


def test_the_steps_are_numbered() -> None:
    assert [step.version for step in STEPS] == list(range(2, len(STEPS) + 2))
