"""Files of older versions become files of this one, whatever happens in between."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import sqlite3
from pathlib import Path

import pytest

from pipeline.errors import NewerFormat, SettingError
from pipeline.graph.search import Method, Scope, SearchPlan
from pipeline.graph.sqlite import migrations
from pipeline.graph.sqlite.dump import SqliteDump
from pipeline.graph.sqlite.reader import SqliteGraphReader
from pipeline.graph.sqlite.schema import APPLICATION_ID, SCHEMA_VERSION
from pipeline.graph.sqlite.store import SqliteGraphStore
from pipeline.text.analysis import query_terms, terms
from tests.contract.curation_kit import Teller, believed, says
from tests.contract.kit import DIMENSION, Graph

VERSION_1 = (Path(__file__).parent / "sqlite_version_1.sql").read_text()
COPIED = (
    *("setting", "groups", "lane", "mark", "episode", "metadata", "entity", "entity_key"),
    *("evidence", "fact", "belief", "support", "community", "vector"),
)
TEXTS = {"episode": "body", "entity": "body", "fact": "body", "community": "body"}


async def old_file(folder: Path, version: int) -> Path:
    """A file as the program of an older version left it, with three episodes of a group in it."""
    new, old = folder / "new.db", folder / "old.db"
    store = SqliteGraphStore(new, dimension=DIMENSION)
    await store.open()
    teller = Teller(_graph(store, new), "g")
    await teller.tell(says("Ana", "PAINTS", "Portraits"))
    await teller.tell(says("Bob", "KNOWS", "Ana"))
    await teller.tell(says("Ana", "LIVES_IN", "Lima", cardinality="one"))
    await store.close()
    connection = sqlite3.connect(old, isolation_level=None)
    connection.execute("ATTACH ? AS new", (str(new),))
    for statement in VERSION_1.split(";\n"):
        connection.execute(statement)
    if version == 2:
        connection.execute("DROP TABLE mention")
        for name in ("spending", "mention", "merge"):
            sql = connection.execute("SELECT sql FROM new.sqlite_schema WHERE name = ?", (name,)).fetchone()[
                0
            ]
            connection.execute(sql)
        connection.execute("CREATE INDEX mention_by_entity ON mention (entity_no)")
    for table in (*COPIED, *(("spending", "mention", "merge") if version == 2 else ())):
        connection.execute(f"INSERT INTO {table} SELECT * FROM new.{table}")
    if version == 1:
        columns = "group_no, episode_id, entity_no, known_from"
        connection.execute(f"INSERT INTO mention SELECT {columns} FROM new.mention")
    for kind in TEXTS:
        rows = connection.execute(f"SELECT no, group_no, body FROM new.{kind}").fetchall()
        words = [(no, str(group), " ".join(terms(body))) for no, group, body in rows]
        connection.executemany(f"INSERT INTO {kind}_text (rowid, scope, terms) VALUES (?, ?, ?)", words)
    connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    return old


def _graph(store: SqliteGraphStore, path: Path) -> Graph:
    async def nothing() -> None: ...

    return Graph(store, SqliteGraphReader(path), SqliteDump(path), nothing)  # type: ignore[arg-type]


async def facts_found(path: Path, question: str) -> list[str]:
    reader = SqliteGraphReader(path)
    await reader.open()
    try:
        plan = SearchPlan(
            group_ids=("g",),
            scopes=(Scope.facts,),
            methods=(Method.bm25,),
            limit=10,
            terms=tuple(query_terms(question)),
            as_of=None,
        )
        return sorted(str(item.fact) for item in (await reader.search(plan)).items[Scope.facts].values())  # type: ignore[union-attr]
    finally:
        await reader.close()


def version_of(path: Path) -> int:
    connection = sqlite3.connect(path)
    try:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
    finally:
        connection.close()


async def opened(path: Path) -> SqliteGraphStore:
    store = SqliteGraphStore(path, dimension=DIMENSION)
    await store.open()
    return store


@pytest.mark.parametrize("version", [1, 2])
async def test_an_old_file_is_searched_by_stems_and_goes_on(tmp_path: Path, version: int) -> None:
    old = await old_file(tmp_path, version)
    reader = SqliteGraphReader(old)
    with pytest.raises(SettingError, match="open it for writing once"):
        await reader.open()
    store = await opened(old)
    try:
        assert version_of(old) == SCHEMA_VERSION
        assert await facts_found(old, "who is painting a portrait?") == ["Ana paints Portraits"]
        teller = Teller(_graph(store, old), "g", count=3)
        ledger = await teller.ledger()
        assert [f[0] for f in believed(ledger)] == [
            "Ana LIVES_IN Lima",
            "Ana PAINTS Portraits",
            "Bob KNOWS Ana",
        ]
        places = {c.episode_id: c.place for c in ledger.contributions.values()}
        assert places["e1"] < places["e2"] < places["e3"] < ledger.lanes["resolve_entities"]
        assert all(c.told for c in ledger.contributions.values()) is (version == 2)
        await teller.tell(says("Ana", "LIVES_IN", "Quito", cardinality="one"), at=50)
        after = await teller.ledger()
        assert {f.target.name: f.beliefs[-1].invalid_at is None for f in after.facts.values()}[
            "Lima"
        ] is False
        await teller.operator.forget_episodes("g", ["e4"])
    finally:
        await store.close()


def _migrate_and_die(path: str, step: int) -> None:
    """Dies by SIGKILL at the end of a step, inside the transaction."""
    inner = migrations.STEPS[step]

    def dying(connection: sqlite3.Connection) -> None:
        inner(connection)
        os.kill(os.getpid(), signal.SIGKILL)

    migrations.STEPS = {**migrations.STEPS, step: dying}
    asyncio.run(opened(Path(path)))


@pytest.mark.parametrize("step", [2, 3])
async def test_a_kill_in_the_middle_leaves_the_old_file(tmp_path: Path, step: int) -> None:
    old = await old_file(tmp_path, 1)
    process = multiprocessing.get_context("spawn").Process(target=_migrate_and_die, args=(str(old), step))
    process.start()
    await asyncio.to_thread(process.join)
    assert process.exitcode == -signal.SIGKILL
    assert version_of(old) == 1
    store = await opened(old)
    await store.close()
    assert version_of(old) == SCHEMA_VERSION
    assert await facts_found(old, "paint") == ["Ana paints Portraits"]


async def test_two_that_open_it_at_once_migrate_once(tmp_path: Path) -> None:
    old = await old_file(tmp_path, 1)
    stores = await asyncio.gather(*(opened(old) for _ in range(4)))
    for store in stores:
        await store.close()
    assert version_of(old) == SCHEMA_VERSION
    assert await facts_found(old, "paint") == ["Ana paints Portraits"]


async def test_a_program_that_runs_writes_no_more_into_a_newer_format(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    store = await opened(path)
    teller = Teller(_graph(store, path), "g")
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    before = await teller.ledger()
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    connection.close()
    for write in (
        teller.tell(says("Ana", "KNOWS", "Cem")),
        teller.communities().rebuild("g"),
        teller.operator.forget_episodes("g", ["e1"]),
    ):
        with pytest.raises(NewerFormat, match="use a newer program"):
            await write
    assert await teller.ledger() == before
    await store.close()
    with pytest.raises(NewerFormat, match="use a newer program"):
        await opened(path)
