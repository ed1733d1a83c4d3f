"""Taking back in a graph file: as if it had never come, and no word of it left in any file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from factstream.memory import InvalidRequest, Memory, SyncMemory
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Poison, SettingError
from pipeline.extraction.triples import TriplesExtractor
from tests.unit.memory.events import works_at

SECRET = "Zaphodius"


def secret(name: str = "s") -> dict[str, Any]:
    event = works_at(50, subject=SECRET)
    return {**event, "id": name}


def left_in(folder: Path, word: str) -> list[str]:
    """The files in which a word stands, whatever its case."""
    wanted = word.lower().encode()
    return [path.name for path in sorted(folder.iterdir()) if wanted in path.read_bytes().lower()]


async def test_an_episode_is_taken_back_with_every_word(memory: Memory, file: Path) -> None:
    await memory.add_many([works_at(n, subject="Ana", one=True) for n in (1, 2)])
    before = [(f.id, f.invalid_at) for f in await memory.facts("g")]
    await memory.add(works_at(3, subject="Ana", one=True))
    await memory.add(secret())
    assert left_in(file.parent, SECRET)
    done = await memory.forget("g", episode=["s", "e3"])
    assert done.episodes == ("e3", "s")
    assert {change.change for change in done.changes} == {"retracted", "reopened"}
    assert left_in(file.parent, SECRET) == []
    assert [(f.id, f.invalid_at) for f in await memory.facts("g")] == before
    found = await memory.search(SECRET, group_ids="g", scopes=["episodes", "entities"], methods=["bm25"])
    assert (found.episodes, found.entities) == ((), ())
    assert await memory.episode("g", "s") is None
    # It is not taken in again.
    await memory.add(secret())
    assert await memory.episode("g", "s") is None


async def test_an_entity_is_taken_back_by_its_name(memory: Memory, file: Path) -> None:
    await memory.add_many([works_at(1, subject="Ana"), secret(), secret("t")])
    assert (await memory.forget("g", entity=SECRET.upper())).episodes == ("s", "t")
    assert left_in(file.parent, SECRET) == []
    assert [e.name for e in await memory.entities("g")] == ["Ana", "C1"]


async def test_a_group_is_emptied_and_others_stay(memory: Memory, file: Path) -> None:
    await memory.add_many([secret(), works_at(1, group="other")])
    assert (await memory.forget("g", everything=True)).episodes == ("s",)
    assert left_in(file.parent, SECRET) == []
    assert await memory.facts("g") == []
    assert len(await memory.facts("other")) == 1
    await memory.add(works_at(2))
    assert len(await memory.facts("g")) == 1


async def test_a_dead_episode_is_taken_back_too(make: Callable[..., Memory], file: Path) -> None:
    class Broken:
        async def extract(self, episode: object, context: object) -> Any:
            raise ValueError("cannot be read")

    async with make(extractor=Broken()) as memory:
        await memory.add_many([secret(), secret("t"), secret("u")])
        assert len(await memory.dead()) == 3
        assert (await memory.forget("g", episode="s")).episodes == ("s",)
        assert [e.episode_id for e in await memory.dead()] == ["t", "u"]
        await memory.forget("g", everything=True)
        assert await memory.dead() == []
        assert left_in(file.parent, SECRET) == []


async def test_what_is_under_way_is_waited_for(memory: Memory, file: Path) -> None:
    await memory.add_many([secret(), works_at(1)], wait=False)
    assert (await memory.forget("g", entity=SECRET)).episodes == ("s",)
    assert left_in(file.parent, SECRET) == []


async def test_what_cannot_be_taken_back_is_said(memory: Memory, make: Callable[..., Memory]) -> None:
    await memory.add(works_at(1))
    for given in ({}, {"episode": "e1", "entity": "x"}, {"entity": "x", "everything": True}):
        with pytest.raises(InvalidRequest, match="one of"):
            await memory.forget("g", **given)  # type: ignore[arg-type]
    for known in ({"episode": ["e1", "nope"]}, {"entity": "nobody"}):
        with pytest.raises(Poison, match=r"nope|nobody"):
            await memory.forget("g", **known)  # type: ignore[arg-type]
    with pytest.raises(Poison, match="empty"):
        await memory.forget("h", everything=True)
    assert await memory.episode("g", "e1") is not None
    async with make(read_only=True) as reader:
        with pytest.raises(SettingError, match="read_only"):
            await reader.forget("g", episode="e1")


def test_the_synchronous_twin_forgets(file: Path) -> None:
    with SyncMemory(file, embedder=HashingEmbedder(), extractor=TriplesExtractor()) as memory:
        memory.add(secret())
        assert memory.forget("g", episode="s").episodes == ("s",)
        assert memory.facts("g") == []


@pytest.mark.parametrize("dimension", [256, 128])
async def test_readers_are_told_of_another_model_as_the_writer_is(
    make: Callable[..., Memory], dimension: int
) -> None:
    class Other(HashingEmbedder):
        @property
        def model(self) -> str:
            return "another"

    async with make() as memory:
        await memory.add(works_at(1))
        for read_only in (True, False):
            with pytest.raises(SettingError, match="another"):
                await make(embedder=Other(dimension), read_only=read_only).open()
            if not read_only:
                continue
            async with make(read_only=True) as reader:
                assert len(await reader.facts("g")) == 1
