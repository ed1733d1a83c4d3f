"""The stores that must keep the contract: each test runs on every one of them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.observer import SilentObserver
from tests.contract.kit import DIMENSION, Graph


@pytest_asyncio.fixture(params=["sqlite", pytest.param("neo4j", marks=pytest.mark.integration)])
async def graph(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Graph]:
    """An open store and reader over one database."""
    made = (
        open_sqlite(tmp_path)
        if request.param == "sqlite"
        else open_neo4j(request.getfixturevalue("bolt_uri"))
    )
    await made.store.open()
    await made.reader.open()
    try:
        yield made
    finally:
        await made.reader.close()
        await made.store.close()


def open_sqlite(folder: Path, name: str = "graph.db") -> Graph:
    path = folder / name
    made = Graph(
        SqliteGraphStore(path, dimension=DIMENSION),
        SqliteGraphReader(path),
        SqliteDump(path).dump,
        wipe=lambda group: wipe(),
    )

    async def wipe() -> None:
        await made.reader.close()
        await made.store.close()
        for file in (path, folder / f"{name}-wal", folder / f"{name}-shm"):
            file.unlink(missing_ok=True)
        await made.store.open()
        await made.reader.open()

    return made


def open_neo4j(uri: str) -> Graph:
    connection = Neo4jConnection(uri, None, None, "neo4j", SilentObserver())
    store = Neo4jGraphStore(uri, dimension=DIMENSION)

    async def wipe(group: str) -> None:
        query = "MATCH (n) WHERE n.group_id = $group DETACH DELETE n RETURN count(n) AS gone"
        await connection.write("wipe", query, {"group": group})

    return Graph(store, Neo4jGraphReader(connection), Neo4jDump(connection).dump, wipe)
