"""A graph file in use, copied whole."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from factstream.transfer.copying import copy_file
from pipeline.errors import Retryable, SettingError
from tests.unit.memory.events import works_at
from tests.unit.transfer.archives_kit import (
    memory_of,
)


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
