"""Whole groups through a file into another graph file: the same digest, and no model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from factstream.transfer.archive_file import Archive
from factstream.transfer.into_file import restore_into_file
from pipeline.errors import Retryable
from tests.unit.memory.events import works_at
from tests.unit.transfer.archives_kit import (
    GROUPS,
    SETTINGS,
    archived,
    digests,
    filled,
    memory_of,
    other_model,
    records_of,
    silent,
)


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


async def test_vectors_are_made_anew_on_demand(tmp_path: Path) -> None:
    one, two = await filled(tmp_path / "one.db", 4), tmp_path / "two.db"
    file = Archive(await archived(one, tmp_path / "all.jsonl"))
    told = await restore_into_file(Archive(other_model(tmp_path, file)), two, SETTINGS, silent, anew=True)
    assert told.embedded > 0
    assert await digests(two) == await digests(one)
