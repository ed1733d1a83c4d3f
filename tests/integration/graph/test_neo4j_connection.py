"""The connection to Neo4j: what is cut, ended or failed half way leaves nothing."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.observer import SilentObserver
from tests.integration.graph.neo4j_write_kit import (
    cypher,
)
from tests.wire import wire_to


async def test_a_wire_that_is_cut_is_retryable_and_nothing_is_half_written(group: str, bolt_uri: str) -> None:
    async with wire_to(bolt_uri) as wire:
        connection = Neo4jConnection(f"bolt://127.0.0.1:{wire.port}", None, None, "neo4j", SilentObserver())
        await connection.open()

        async def write_and_be_cut() -> None:
            async with connection.transaction("test") as transaction:
                await transaction.run("CREATE (:Lane {group_id: $g, stage: 'cut'})", {"g": group})
                wire.cut()
                await transaction.run("CREATE (:Lane {group_id: $g, stage: 'more'})", {"g": group})

        try:
            with pytest.raises(Retryable):
                await write_and_be_cut()
            query = "MATCH (l:Lane {group_id: $g}) RETURN l.stage AS stage"
            assert await connection.run("test", query, {"g": group}) == []
        finally:
            await connection.close()


async def test_a_transaction_that_the_server_ends_is_retryable(bolt_uri: str, group: str) -> None:
    connection = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    await connection.open()
    slow = "UNWIND range(1, 1000000000) AS i WITH i WHERE i < 0 RETURN $group, count(i)"
    running = asyncio.create_task(connection.run("test", slow, {"group": group}))
    found = "SHOW TRANSACTIONS YIELD transactionId, parameters WHERE parameters.p.group = $group RETURN transactionId"
    try:
        while not running.done():
            for (number,) in await cypher(bolt_uri, found.replace("$group", "$wanted"), wanted=group):
                await cypher(bolt_uri, "TERMINATE TRANSACTION $id", id=number)
            await asyncio.sleep(0.02)
        with pytest.raises(Retryable):
            await running
    finally:
        running.cancel()
        await connection.close()


async def test_an_error_inside_a_transaction_rolls_it_back(bolt_uri: str, group: str) -> None:
    connection = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    await connection.open()

    async def fail() -> None:
        async with connection.transaction("test") as transaction:
            await transaction.run("CREATE (:Lane {group_id: $g, stage: 'x'})", {"g": group})
            raise ValueError("not this one")

    try:
        with pytest.raises(ValueError, match="not this one"):
            await fail()
        assert await cypher(bolt_uri, "MATCH (l:Lane {group_id: $g}) RETURN l", g=group) == []
    finally:
        await connection.close()
