"""Fixtures of the tests of the read side, and the store of those of the write side."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.neo4j.schema import ensure_schema
from pipeline.graph.neo4j.store import Neo4jGraphStore
from tests.integration.graph.neo4j_write_kit import opened
from tests.integration.graph.reader_graph import (
    DIMENSION,
    NOW,
    GraphWriter,
    RoundTrips,
)


@pytest.fixture
def trips() -> RoundTrips:
    return RoundTrips()


@pytest.fixture
async def connection(bolt_uri: str, trips: RoundTrips) -> AsyncIterator[Neo4jConnection]:
    made = Neo4jConnection(bolt_uri, None, None, "neo4j", trips)
    await made.open()
    await ensure_schema(made, DIMENSION)
    yield made
    await made.close()


@pytest.fixture
def reader(connection: Neo4jConnection) -> Neo4jGraphReader:
    return Neo4jGraphReader(connection, timeout=30, clock=lambda: NOW)


@pytest.fixture
def write(connection: Neo4jConnection) -> GraphWriter:
    return GraphWriter(connection)


@pytest.fixture
async def store(bolt_uri: str) -> AsyncIterator[Neo4jGraphStore]:
    async with opened(bolt_uri) as found:
        yield found
