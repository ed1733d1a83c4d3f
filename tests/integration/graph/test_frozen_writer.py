"""A writer that says nothing any more does not hold its group for ever."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.lane import EXTRACT, Lane, begin
from pipeline.observer import SilentObserver


async def test_the_database_ends_a_transaction_that_was_left_open(bolt_uri: str, group: str) -> None:
    frozen = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver(), transaction_seconds=1.0)
    other = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    for connection in (frozen, other):
        await connection.open()
    try:
        held, woken = asyncio.Event(), asyncio.Event()

        async def freeze() -> None:
            async with begin(frozen, Lane(group, EXTRACT, "e1"), None) as commit:
                held.set()
                await woken.wait()
                await commit.run("RETURN 1 AS one")

        sleeper = asyncio.create_task(freeze())
        await held.wait()
        async with asyncio.timeout(60), begin(other, Lane(group, EXTRACT, "e1"), None) as commit:
            version = commit.version
        woken.set()
        with pytest.raises(Retryable):
            await sleeper
        async with begin(other, Lane(group, EXTRACT, "e1"), None) as commit:
            assert commit.version == version + 1
    finally:
        await frozen.close()
        await other.close()
