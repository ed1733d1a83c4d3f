"""Whole groups through a file into another graph file: the same digest, no model, also after interruptions."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson
import pytest

from factstream.memory import Memory
from factstream.settings import Settings
from factstream.transfer import restoring
from factstream.transfer.archive_file import Archive, ArchiveWriter, BadArchive
from factstream.transfer.archiving import ATTEMPTS, archive
from factstream.transfer.copying import copy_file
from factstream.transfer.into_file import restore_into_file
from factstream.transfer.restoring import Restoring
from factstream.transfer.waiting import waiting_events
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Fenced, Retryable, SettingError
from pipeline.graph.archive import GroupRecord, Record
from pipeline.graph.digest import digest
from pipeline.graph.sqlite.archive import SqliteArchiveSource, SqliteArchiveTarget
from pipeline.graph.sqlite.dump import SqliteDump
from tests.unit.memory.events import works_at

GROUPS = ("b", "a 北/京")
SETTINGS = Settings(embedder="hashing")


def memory_of(path: Path, **options: Any) -> Memory:
    return Memory(path, settings=SETTINGS, **options)


async def filled(path: Path, count: int = 20) -> Path:
    async with memory_of(path) as memory:
        events = [works_at(n, group=GROUPS[n % 2], subject="Ana", one=True) for n in range(count)]
        await memory.add_many(events)
    return path


async def archived(path: Path, to: Path, groups: Sequence[str] = GROUPS) -> Path:
    source = SqliteArchiveSource(path)
    await source.open()
    try:
        waiting = await waiting_events(path)
        await archive(source, groups, to, waiting, lambda: None)
    finally:
        await source.close()
    return to


async def digests(path: Path) -> list[str]:
    return [digest(await SqliteDump(path).dump(group)) for group in GROUPS]


def silent(lines: int) -> None:
    pass


async def test_groups_stand_in_another_file_as_they_were(tmp_path: Path) -> None:
    one, two = await filled(tmp_path / "one.db"), tmp_path / "two.db"
    file = await archived(one, tmp_path / "all.jsonl")
    passed: list[int] = []
    found = Archive(file)
    told = await restore_into_file(found, two, SETTINGS, passed.append)
    assert sum(passed) == found.records
    assert (told.counts["group"], told.counts["episode"], told.counts["fact"], told.embedded) == (
        2,
        20,
        20,
        0,
    )
    assert await digests(two) == await digests(one)
    # Every record but events that may still stand in the inbox is the same to the byte.
    again = await archived(two, tmp_path / "again.jsonl")
    assert records_of(again) == records_of(file)
    async with memory_of(two) as memory:
        added = await memory.add(works_at(3, group=GROUPS[1], subject="Ana", one=True))
        assert added.state == "committed"
        assert len(await memory.facts(GROUPS[1])) == 10
        await memory.add(works_at(40, group="b", subject="Ana", one=True))
        assert [f.target.name for f in await memory.facts("b") if f.invalid_at is None] == ["C40"]


def records_of(file: Path) -> list[bytes]:
    return [line for line in file.read_bytes().splitlines()[1:-1] if not line.startswith(b'{"kind":"event"')]


async def test_what_is_under_way_is_finished_after_the_import(tmp_path: Path) -> None:
    class Away:
        async def extract(self, episode: object, context: object) -> Any:
            raise Retryable("the endpoint is away")

    one, two = await filled(tmp_path / "one.db", 2), tmp_path / "two.db"
    async with memory_of(one, extractor=Away()) as memory:
        added = await memory.add_many(
            [works_at(n, group="b", subject="Ana", one=True) for n in (7, 5)], wait=False
        )
        assert [a.state for a in added] == ["received"] * 2
        file = await archived(one, tmp_path / "all.jsonl", ["b"])
    told = await restore_into_file(Archive(file), two, SETTINGS, silent)
    assert {key[1] for key in told.unfinished} >= {"e7", "e5"}
    async with memory_of(two) as memory:
        assert {f.target.name for f in await memory.facts("b")} == {"C0", "C7", "C5"}
    async with memory_of(one) as memory:
        await memory.drain()
    assert (await digests(two))[0] == (await digests(one))[0]


async def test_what_is_dead_stays_dead_and_is_told(tmp_path: Path) -> None:
    class Broken:
        async def extract(self, episode: object, context: object) -> Any:
            raise ValueError("cannot be read")

    from tests.unit.memory.conftest import QUICK

    one, two = tmp_path / "one.db", tmp_path / "two.db"
    async with memory_of(one, extractor=Broken(), policy=QUICK) as memory:
        assert [a.state for a in await memory.add_many([works_at(1, group="b")])] == ["dead"]
    told = await restore_into_file(Archive(await archived(one, tmp_path / "a", ["b"])), two, SETTINGS, silent)
    assert [(e.id, "cannot be read" in str(e.dead)) for e in told.dead] == [("e1", True)]
    async with memory_of(two) as memory:
        episode = await memory.episode("b", "e1")
        assert episode is not None
        assert episode.state == "dead"
        assert (await memory.add(works_at(1, group="b"))).state == "committed"


@pytest.mark.parametrize("broken_at", [0, 1, 2, 5, 11])
async def test_an_interrupted_import_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, broken_at: int
) -> None:
    monkeypatch.setattr(restoring, "CHUNK", 13)
    one, two = await filled(tmp_path / "one.db"), tmp_path / "two.db"
    file = Archive(await archived(one, tmp_path / "all.jsonl"))

    class Dies(SqliteArchiveTarget):
        left = broken_at

        async def restore(
            self, name: str, group_id: str, chunk: Sequence[Record], done: int, at: datetime
        ) -> None:
            if self.left == 0:
                raise ConnectionError("killed")
            self.left -= 1
            await super().restore(name, group_id, chunk, done, at)

    target = Dies(two, HashingEmbedder().dimension)
    await target.open()
    with pytest.raises(ConnectionError):
        await Restoring(target, HashingEmbedder(), system_clock).run(file, silent)
    await target.close()
    written: list[int] = []
    original = SqliteArchiveTarget.restore

    async def counted(self: SqliteArchiveTarget, *given: Any) -> None:
        written.append(len(given[2]))
        await original(self, *given)

    monkeypatch.setattr(SqliteArchiveTarget, "restore", counted)
    told = await restore_into_file(file, two, SETTINGS, silent)
    assert told.counts["episode"] == 20
    assert await digests(two) == await digests(one)
    # What was in is not written again.
    total = sum(told.counts.values())
    assert sum(written) <= total - 12 * broken_at
    written.clear()
    await restore_into_file(file, two, SETTINGS, silent)
    assert written == []


async def test_no_transaction_is_much_larger_than_its_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restoring, "CHUNK_BYTES", 9000)
    one = await filled(tmp_path / "one.db")
    sizes: list[int] = []
    original = SqliteArchiveTarget.restore

    async def counted(self: SqliteArchiveTarget, *given: Any) -> None:
        sizes.append(sum(len(record.model_dump_json()) for record in given[2]))
        await original(self, *given)

    monkeypatch.setattr(SqliteArchiveTarget, "restore", counted)
    archive_file = Archive(await archived(one, tmp_path / "all.jsonl"))
    await restore_into_file(archive_file, tmp_path / "two.db", SETTINGS, silent)
    assert len(sizes) > 5
    assert max(sizes) < 9000 + 4000


@pytest.mark.parametrize("lines", [0, 1, 3, 40, 200])
async def test_an_interrupted_export_goes_on_with_the_group_in_which_it_ended(
    tmp_path: Path, lines: int
) -> None:
    one = await filled(tmp_path / "one.db")
    whole = records_of(await archived(one, tmp_path / "whole.jsonl"))
    source = SqliteArchiveSource(one)
    await source.open()
    left = [lines]

    def dies() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise ConnectionError("killed")

    out = tmp_path / "out.jsonl"
    with pytest.raises(ConnectionError):
        await archive(source, GROUPS, out, [], dies)
    with (tmp_path / "out.jsonl.part").open("ab") as part:
        part.write(b'{"kind":"begin","grou')
    assert not out.exists()
    assert await archive(source, GROUPS, out, [], lambda: None) == len(records_of(out))
    await source.close()
    assert records_of(out) == whole
    assert Archive(out).records == len(whole)


class Restless:
    """A source without snapshots whose group is changed `changes` times while it is read."""

    def __init__(self, changes: int) -> None:
        self.changes = changes

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def groups(self) -> list[str]:
        return ["g", "h"]

    async def dimension(self) -> int:
        return 8

    async def model(self) -> str | None:
        return None

    async def tell(self, group_id: str, on_record: Callable[[Record], None]) -> None:
        on_record(GroupRecord(id=group_id, lanes={"resolve_facts": self.changes}))
        if group_id == "h" and self.changes:
            self.changes -= 1
            raise Fenced("changed")


async def test_a_group_that_changes_is_read_again(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert await archive(Restless(ATTEMPTS - 1), ["h", "g"], out, [], lambda: None) == 4
    assert [line.group_id for line in Archive(out).lines()] == ["g", "h"]
    with pytest.raises(Retryable, match="all the time"):
        await archive(Restless(ATTEMPTS), ["g", "h"], tmp_path / "two.jsonl", [], lambda: None)
    assert await archive(Restless(0), ["g", "h"], tmp_path / "two.jsonl", [], lambda: None) == 4


async def test_a_damaged_archive_is_refused_before_anything_is_taken_in(tmp_path: Path) -> None:
    one = await filled(tmp_path / "one.db", 4)
    file = await archived(one, tmp_path / "all.jsonl")
    whole = file.read_bytes()
    lines = whole.splitlines(keepends=True)
    for broken, told in (
        (b"", "no archive"),
        (b'{"id": "e1"}\n', "no archive"),
        (whole[: len(whole) // 2], "cut off"),
        (b"".join(lines[:-1]), "cut off"),
        (b"".join([*lines[:3], *lines[4:]]), "damaged"),
        (whole.replace(b"C2", b"C9", 1), "damaged"),
        (lines[0].replace(b'"format":1', b'"format":2') + b"".join(lines[1:]), "knows up to 1"),
    ):
        file.write_bytes(broken)
        with pytest.raises(BadArchive, match=told):
            Archive(file)
    with pytest.raises(BadArchive, match="cannot be read"):
        Archive(tmp_path / "none")
    assert not Archive.is_one(tmp_path / "none")


async def test_a_line_that_is_no_record_is_named(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    with ArchiveWriter(out, ["g"], None, 8) as writer:
        writer.begin("g")
        writer._write(orjson.dumps({"kind": "mark", "episode_id": "e", "stage": 5}))
        writer.finish()
    with pytest.raises(BadArchive, match=r"line 3: mark\.stage"):
        list(Archive(out).lines())


async def test_what_would_be_mixed_up_is_refused(tmp_path: Path) -> None:
    one = await filled(tmp_path / "one.db", 4)
    file = Archive(await archived(one, tmp_path / "all.jsonl"))
    with pytest.raises(SettingError, match="there already"):
        await archived(one, tmp_path / "all.jsonl")
    with pytest.raises(SettingError, match="forget it first"):
        await restore_into_file(file, one, SETTINGS, silent)
    with pytest.raises(SettingError, match="embed-anew"):
        await restore_into_file(Archive(_other_model(tmp_path, file)), tmp_path / "two.db", SETTINGS, silent)
    async with memory_of(tmp_path / "two.db"):
        with pytest.raises(SettingError, match="another process"):
            await restore_into_file(file, tmp_path / "two.db", SETTINGS, silent)
    (tmp_path / "b.jsonl.part").write_bytes(file_head(file, groups=["c"]))
    with pytest.raises(SettingError, match="another export"):
        await archived(one, tmp_path / "b.jsonl")


async def test_vectors_are_made_anew_on_demand(tmp_path: Path) -> None:
    one, two = await filled(tmp_path / "one.db", 4), tmp_path / "two.db"
    file = Archive(await archived(one, tmp_path / "all.jsonl"))
    told = await restore_into_file(Archive(_other_model(tmp_path, file)), two, SETTINGS, silent, anew=True)
    assert told.embedded > 0
    assert await digests(two) == await digests(one)


def file_head(file: Archive, **changes: Any) -> bytes:
    return orjson.dumps({**file.head.model_dump(mode="json"), **changes}) + b"\n"


def _other_model(folder: Path, file: Archive) -> Path:
    """The same groups, as if another model had made the vectors."""
    path = folder / "other.jsonl"
    with ArchiveWriter(path, list(file.head.groups), "another", file.head.dimension) as writer:
        group = ""
        for line in file.lines():
            if line.group_id != group:
                group = line.group_id
                writer.begin(group)
            writer.put(line.record)
        writer.finish()
    return path


async def test_a_file_in_use_is_copied_whole(tmp_path: Path) -> None:
    one, copy = tmp_path / "one.db", tmp_path / "copy.db"
    async with memory_of(one) as memory:
        await memory.add_many([works_at(n, group="b") for n in range(6)])
        # The write-ahead log holds them; the file alone does not.
        assert copy_file(one, copy) > 0
        await memory.add(works_at(6, group="b"))
    async with memory_of(copy) as memory:
        await memory.drain()
        assert len(await memory.facts("b")) == 6
    with pytest.raises(SettingError, match="there already"):
        copy_file(one, copy)
    with pytest.raises(SettingError, match="no graph file"):
        copy_file(tmp_path / "none.db", tmp_path / "x.db")
    (tmp_path / "junk.db").write_bytes(b"junk" * 5000)
    with pytest.raises(SettingError, match="damaged"):
        copy_file(tmp_path / "junk.db", tmp_path / "x.db")
    sqlite3.connect(tmp_path / "alien.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises((SettingError, Retryable)):
        copy_file(tmp_path / "alien.db", tmp_path / "x.db")
    assert not (tmp_path / "x.db").exists()
