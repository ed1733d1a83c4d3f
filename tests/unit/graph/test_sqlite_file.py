"""The file behind the SQLite store: who may open it, who waits for whom, and what other processes see."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from pipeline.errors import Retryable, SettingError
from pipeline.graph.entity_port import EntityCommit, EntityWrite
from pipeline.graph.search import Method, Scope, SearchPlan
from pipeline.graph.sqlite import queries, queries_read
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.schema import SCHEMA_VERSION
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode, Source, Usage
from pipeline.model.moments import as_utc
from pipeline.observer import SilentObserver
from pipeline.timeline.partial import parse_partial

DAY = as_utc(parse_partial("2024-01-01")[0])


class RoundTrips(SilentObserver):
    """Keeps the names of the calls."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def graph_round_trip(self, operation: str, seconds: float) -> None:
        assert seconds >= 0
        self.seen.append(operation)


def _episode(number: int, group: str = "g") -> Episode:
    return Episode(
        id=f"e{number}",
        group_id=group,
        source=Source.text,
        content=f"owl {number}",
        reference_time=DAY,
        sequence=number,
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where the file is to be."""
    return tmp_path / "a folder?#%" / "graph.db"


@pytest_asyncio.fixture
async def store(path: Path) -> AsyncIterator[SqliteGraphStore]:
    """An open store that waits for nobody."""
    path.parent.mkdir()
    made = SqliteGraphStore(path, dimension=2, busy_seconds=0.05)
    await made.open()
    yield made
    await made.close()


async def _found(reader: SqliteGraphReader, limit: int = 50, group: str = "g", **changes: Any) -> list[str]:
    plan = SearchPlan((group,), (Scope.episodes,), (Method.cosine,), limit, vector=[1.0, 0.0], **changes)
    (leg,) = (await reader.search(plan)).legs
    return [key.split("\x1f")[1] for key, _ in leg.ranked]


async def test_a_reader_waits_for_the_writer_to_make_the_file(path: Path) -> None:
    reader = SqliteGraphReader(path)
    with pytest.raises(Retryable, match="no graph file"):
        await reader.open()
    path.parent.mkdir()
    with pytest.raises(Retryable, match="no graph file"):
        await reader.open()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version")
    with pytest.raises(Retryable, match="no tables yet"):
        await reader.open()
    store = SqliteGraphStore(path, dimension=2)
    await store.open()
    await reader.open()
    await reader.ping()
    assert await _found(reader) == []
    await reader.close()
    await store.close()


async def test_what_cannot_be_used_is_a_wrong_setting(tmp_path: Path) -> None:
    async def refused(name: str, match: str) -> None:
        for each in (SqliteGraphStore(tmp_path / name, dimension=2), SqliteGraphReader(tmp_path / name)):
            with pytest.raises(SettingError, match=match):
                await each.open()

    (tmp_path / "text").write_text("hello " * 1000)
    await refused("text", "no SQLite database")

    with sqlite3.connect(tmp_path / "foreign") as connection:
        connection.execute("PRAGMA application_id = 7")
    await refused("foreign", "another program")

    with sqlite3.connect(tmp_path / "tables") as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(SettingError, match="another program"):
        await SqliteGraphStore(tmp_path / "tables", dimension=2).open()

    made = SqliteGraphStore(tmp_path / "newer", dimension=2)
    await made.open()
    await made.close()
    with sqlite3.connect(tmp_path / "newer") as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    await refused("newer", f"version {SCHEMA_VERSION + 1}")

    with pytest.raises(SettingError, match="folder"):
        await SqliteGraphStore(tmp_path / "nowhere" / "graph.db", dimension=2).open()


async def test_another_dimension_is_refused_with_both_numbers(store: SqliteGraphStore, path: Path) -> None:
    with pytest.raises(SettingError, match=r"2 dimensions.*makes 3"):
        await SqliteGraphStore(path, dimension=3).open()


async def test_a_locked_file_is_retryable_and_readers_go_on(store: SqliteGraphStore, path: Path) -> None:
    await store.receive(_episode(1), [1.0, 0.0], 0, DAY)
    reader = SqliteGraphReader(path, busy_seconds=0.05)
    await reader.open()
    rival = sqlite3.connect(path, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    with pytest.raises(Retryable, match="locked"):
        await store.receive(_episode(2), [1.0, 0.0], 0, DAY)
    assert await _found(reader) == ["e1"]
    rival.execute("ROLLBACK")
    await store.receive(_episode(2), [1.0, 0.0], 0, DAY)
    assert await _found(reader) == ["e1", "e2"]
    rival.close()
    await reader.close()


async def test_the_event_loop_runs_while_a_call_waits(path: Path) -> None:
    path.parent.mkdir()
    store = SqliteGraphStore(path, dimension=2, busy_seconds=30)
    await store.open()
    rival = sqlite3.connect(path, isolation_level=None)
    rival.execute("BEGIN IMMEDIATE")
    waiting = asyncio.create_task(store.receive(_episode(1), None, 0, DAY))
    for _ in range(1000):
        await asyncio.sleep(0)
    assert not waiting.done()
    rival.execute("ROLLBACK")
    assert (await waiting).stored == _episode(1)
    rival.close()
    await store.close()


@pytest.mark.parametrize("turns", [1, 2, 5, 50])
async def test_a_cancelled_call_is_done_whole_or_not_at_all(
    store: SqliteGraphStore, path: Path, turns: int
) -> None:
    task = asyncio.create_task(store.receive(_episode(1), [1.0, 0.0], 0, DAY))
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    # Calls are handled in order, so this one comes after what is left of the first.
    await store.receive(_episode(2), [1.0, 0.0], 0, DAY)
    reader = SqliteGraphReader(path)
    await reader.open()
    plan = SearchPlan(("g",), (Scope.episodes,), (Method.cosine, Method.bm25), 9, ("owl",), [1.0, 0.0])
    by_vector, by_words = ([key for key, _ in leg.ranked] for leg in (await reader.search(plan)).legs)
    stored = ["g\x1fe1"] if await reader.episode("g", "e1") else []
    assert sorted(by_vector) == sorted(by_words) == [*stored, "g\x1fe2"]
    await reader.close()


async def test_a_closed_store_is_retryable_and_opens_again(store: SqliteGraphStore, path: Path) -> None:
    await store.close()
    await store.close()
    with pytest.raises(Retryable, match="not open"):
        await store.ping()
    await store.open()
    await store.ping()
    with pytest.raises(Retryable, match="not open"):
        await SqliteGraphReader(path).ping()


async def test_each_call_is_reported_once(path: Path) -> None:
    path.parent.mkdir()
    trips = RoundTrips()
    store = SqliteGraphStore(path, dimension=2, observer=trips)
    await store.open()
    await store.receive(_episode(1), None, 0, DAY)
    await store.ping()
    await store.close()
    assert trips.seen == ["open", "receive", "ping"]


WRITER = """
import asyncio, sys
sys.path[:0] = {search_path!r}
from tests.unit.graph.test_sqlite_file import _episode, DAY
from pipeline.graph.sqlite.store import SqliteGraphStore

async def main():
    store = SqliteGraphStore({path!r}, dimension=2)
    await store.open()
    for number in range({first}, {last}):
        await store.receive(_episode(number), [1.0, 1.0], 0, DAY)
    {end}

asyncio.run(main())
"""


def _write(path: Path, first: int, last: int, end: str) -> int:
    root = str(Path(__file__).parents[3])
    code = WRITER.format(search_path=[root], path=str(path), first=first, last=last, end=end)
    return subprocess.run([sys.executable, "-c", code], check=False, timeout=60).returncode


async def test_a_reader_sees_what_another_process_acknowledged_even_if_it_died(
    store: SqliteGraphStore, path: Path
) -> None:
    await store.receive(_episode(0), [1.0, 0.0], 0, DAY)
    reader = SqliteGraphReader(path)
    await reader.open()
    assert await _found(reader) == ["e0"]
    await store.close()
    assert await asyncio.to_thread(_write, path, 1, 5, "import os; os.kill(os.getpid(), 9)") == -9
    assert await _found(reader) == [f"e{n}" for n in range(5)]
    assert await asyncio.to_thread(_write, path, 5, 7, "await store.close()") == 0
    assert await _found(reader) == [f"e{n}" for n in range(7)]
    await reader.close()


async def test_vectors_beyond_the_memory_for_them_are_read_again(store: SqliteGraphStore, path: Path) -> None:
    for group in ("a", "b", "c"):
        for number in range(20):
            await store.receive(_episode(number, group), [1.0, number / 10], 0, DAY)
    reader = SqliteGraphReader(path, vector_bytes=1)
    await reader.open()
    for _ in range(2):
        for group in ("a", "b", "c"):
            assert await _found(reader, group=group) == [f"e{n}" for n in range(20)]
    await store.receive(_episode(99, "a"), [1.0, 0.0], 0, DAY)
    assert "e99" in await _found(reader, group="a")
    await reader.close()


async def test_a_changed_vector_takes_the_place_of_the_old_one(store: SqliteGraphStore, path: Path) -> None:
    reader = SqliteGraphReader(path)
    await reader.open()
    ana = Entity(id="ana", group_id="g", name="Ana", created_at=DAY)
    plan = SearchPlan(("g",), (Scope.entities,), (Method.cosine,), 9, vector=[1.0, 0.0])
    for version, vector, expected in ((0, [1.0, 0.0], 1.0), (1, [0.0, 1.0], 0.0), (2, None, 0.0)):
        await store.commit_entities(
            EntityCommit(_episode(version).ref, version, (EntityWrite(ana, vector),), (), "{}", Usage(), DAY)
        )
        (leg,) = (await reader.search(plan)).legs
        assert leg.ranked == (("g\x1fana", pytest.approx(expected)),)
    await reader.close()


def _statements() -> list[tuple[str, str]]:
    modules = (queries, queries_read)
    found = [(name, text) for module in modules for name, text in vars(module).items() if name.isupper()]
    return sorted(set(found))


@pytest.mark.parametrize(("name", "text"), _statements())
async def test_no_query_scans_a_whole_table(
    store: SqliteGraphStore, path: Path, name: str, text: str
) -> None:
    with sqlite3.connect(path) as connection:
        values: Any = dict.fromkeys(re.findall(r":(\w+)", text)) or (None,) * text.count("?")
        plan = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", values)]
    tables = {
        "episode",
        "entity",
        "entity_key",
        "evidence",
        "fact",
        "belief",
        "support",
        "mention",
        "vector",
        "mark",
    }
    aliases = tables | {"e", "f", "b", "p", "s", "n", "m", "c", "held"}
    scanned = {line.split()[1] for line in plan if line.startswith("SCAN") and "INDEX" not in line}
    assert not scanned & aliases, (name, plan)
    whole_group = [line for line in plan if line.endswith("(group_no=?)")]
    assert not whole_group or name in {
        "EDGES",
        "ENTITIES_OF_GROUP",
        "EMPTY_COMMUNITIES",
        "LEAVE_OTHER_COMMUNITIES",
    }, (name, plan)
