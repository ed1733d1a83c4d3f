"""Archives that are damaged, and what would be mixed up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from factstream.transfer.archive_file import Archive, ArchiveWriter, BadArchive
from factstream.transfer.into_file import restore_into_file
from pipeline.errors import SettingError
from tests.unit.transfer.archives_kit import (
    SETTINGS,
    archived,
    filled,
    memory_of,
    other_model,
    silent,
)


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
        await restore_into_file(Archive(other_model(tmp_path, file)), tmp_path / "two.db", SETTINGS, silent)
    async with memory_of(tmp_path / "two.db"):
        with pytest.raises(SettingError, match="another process"):
            await restore_into_file(file, tmp_path / "two.db", SETTINGS, silent)
    (tmp_path / "b.jsonl.part").write_bytes(file_head(file, groups=["c"]))
    with pytest.raises(SettingError, match="another export"):
        await archived(one, tmp_path / "b.jsonl")


def file_head(file: Archive, **changes: Any) -> bytes:
    return orjson.dumps({**file.head.model_dump(mode="json"), **changes}) + b"\n"
