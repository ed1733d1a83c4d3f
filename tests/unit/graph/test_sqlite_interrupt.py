"""A read that nobody waits for any longer ends inside SQLite."""

from __future__ import annotations

import asyncio
import threading

import pytest

from pipeline.graph.sqlite.database import Database
from pipeline.observer import SilentObserver

ENDLESS = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
async def database(tmp_path):
    made = Database(tmp_path / "graph.db", create=True, observer=SilentObserver(), busy_seconds=1.0)
    await made.open()
    yield made
    await made.close()


async def test_a_cancelled_read_is_interrupted_and_the_next_one_is_not(database):
    begun = threading.Event()

    def endless(connection):
        begun.set()
        return connection.execute(ENDLESS).fetchone()

    reading = asyncio.create_task(database.read("endless", endless))
    await asyncio.to_thread(begun.wait, 30)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    # There is one thread: this waits for the end of the endless one.
    answer = await asyncio.wait_for(
        database.read("next", lambda connection: connection.execute("SELECT 7").fetchone()), 30
    )
    assert answer == (7,)


async def test_a_cancelled_write_is_whole(database):
    begun, go_on = threading.Event(), threading.Event()

    def write(connection):
        connection.execute("CREATE TABLE t (x)")
        begun.set()
        go_on.wait(30)
        connection.execute("INSERT INTO t VALUES (1)")

    writing = asyncio.create_task(database.write("write", write))
    await asyncio.to_thread(begun.wait, 30)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    go_on.set()
    assert await database.read("read", lambda c: c.execute("SELECT x FROM t").fetchall()) == [(1,)]
