"""Exports and imports that are interrupted or disturbed, and how much one transaction takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from factstream.transfer import restoring
from factstream.transfer.archive_file import Archive
from factstream.transfer.archiving import ATTEMPTS, archive
from factstream.transfer.into_file import restore_into_file
from factstream.transfer.restoring import Restoring
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Fenced, Retryable
from pipeline.graph.archive import GroupRecord, Record
from pipeline.graph.sqlite.archive import SqliteArchiveSource, SqliteArchiveTarget
from tests.unit.transfer.archives_kit import (
    GROUPS,
    SETTINGS,
    archived,
    digests,
    filled,
    records_of,
    silent,
)


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
