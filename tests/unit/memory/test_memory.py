"""What a user of the embedded memory does, and what must then be true."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from factstream.memory import EpisodeDied, InvalidRequest, Memory
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.errors import Poison, Retryable, SettingError
from pipeline.model.episode import EpisodeState
from pipeline.model.event import InvalidEvent, TextEvent, parse_event
from pipeline.model.extraction import Extraction
from tests.unit.memory.events import works_at


async def test_what_was_added_is_found_by_every_read(memory: Memory) -> None:
    added = await memory.add(works_at(1, subject="Ana"))
    assert (added.id, added.group_id, added.state) == ("e1", "g", EpisodeState.committed)
    found = await memory.search(
        "Where does Ana work?", group_ids="g", scopes=["facts", "entities", "episodes"]
    )
    assert [f.target.name for f in found.facts] == ["C1"]
    assert {e.name for e in found.entities} == {"Ana", "C1"}
    assert [e.id for e in found.episodes] == ["e1"]
    assert "Ana works at C1 (2000-01-02 - present)" in (await memory.context("Ana", group_ids=["g"])).context
    episode = await memory.episode("g", "e1")
    assert episode is not None
    assert [f.relation for f in episode.facts] == ["WORKS_AT"]
    assert [e.name for e in await memory.entities("g")] == ["Ana", "C1"]
    assert await memory.groups() == ["g"]
    assert await memory.episode("other", "e1") is None


async def test_timelines_of_a_group_and_of_an_entity_by_name_or_id(memory: Memory) -> None:
    await memory.add_many([works_at(n, subject="Ana", one=True) for n in (1, 2)])
    known = datetime.now(UTC)
    await memory.add_many([works_at(3, subject="Ana", one=True), works_at(4, subject="Ben")])

    async def told(*of: str, **when: object) -> list[str]:
        return [f.target.name for f in await memory.facts("g", *of, **when)]  # type: ignore[arg-type]

    ana = next(e for e in await memory.entities("g") if e.name == "Ana")
    assert await told() == ["C1", "C2", "C3", "C4"]
    assert await told("ANA") == await told(ana.id) == ["C1", "C2", "C3"]
    assert await told("Ana", as_of="2000-01-03T12:00:00Z") == ["C2"]
    assert await told(known_at=known) == ["C1", "C2"]
    assert [f.invalid_at for f in await memory.facts("g", "Ana", known_at=known)][-1] is None
    assert await told("Nobody") == []


async def test_a_context_tells_what_was_replaced_when_asked(memory: Memory) -> None:
    await memory.add_many([works_at(n, subject="Ana", one=True) for n in (1, 2)])
    now = (await memory.context("Ana", group_ids="g", scopes=["facts"])).context
    assert now == "Facts:\n- Ana works at C2 (2000-01-03 - present)"
    told = await memory.context("Ana", group_ids="g", scopes=["facts"], replaced=True)
    assert told.context == f"{now} (before: Ana works at C1, 2000-01-02 - 2000-01-03)"
    assert len(told.facts) == 2


async def test_an_id_is_one_episode_and_its_first_content_wins(memory: Memory) -> None:
    second = {**works_at(2), "id": "e1"}
    states = [a.state for a in await memory.add_many([works_at(1), second, works_at(1)])]
    assert states == [EpisodeState.committed] * 3
    await memory.add(second)
    facts = await memory.facts("g")
    assert [(f.target.name, f.episodes) for f in facts] == [("C1", ("e1",))]


async def test_a_bad_event_is_refused_with_the_field_at_fault_and_nothing_is_stored(memory: Memory) -> None:
    bad = {**works_at(1), "extra": 1}
    with pytest.raises(InvalidEvent) as single:
        await memory.add(bad)
    with pytest.raises(InvalidEvent) as expected:
        parse_event(bad)
    assert single.value.errors == expected.value.errors
    with pytest.raises(InvalidEvent) as many:
        await memory.add_many([works_at(2), bad, "no event"])  # type: ignore[list-item]
    assert [path for path, _ in many.value.errors] == ["1.extra", "2"]
    assert await memory.groups() == []
    assert await memory.add_many([]) == []


async def test_a_bad_search_names_its_fields(memory: Memory) -> None:
    with pytest.raises(InvalidRequest) as error:
        await memory.search("x", group_ids="g", limit=0, colour="red")  # type: ignore[call-arg]
    assert {path for path, _ in error.value.errors} == {"limit", "colour"}
    assert isinstance(error.value, ValueError)


class Silent:
    """An extractor that finds nothing."""

    async def extract(self, episode: object, context: object) -> Extraction:
        return Extraction()


async def test_events_may_be_models_and_ids_may_be_left_out(make: Callable[..., Memory]) -> None:
    event = TextEvent.model_validate(
        {"group_id": "g", "source": "text", "content": "Ana.", "reference_time": "2024-01-01"}
    )
    async with make(extractor=Silent()) as memory:
        added = await memory.add(event)
        assert added.id.startswith("ep-")
        assert added.state is EpisodeState.skipped
        assert (await memory.add(event)).id == added.id


async def test_without_waiting_add_returns_at_once_and_drain_waits(memory: Memory) -> None:
    added = await memory.add_many([works_at(n) for n in range(20)], wait=False)
    assert {a.state for a in added} == {EpisodeState.received}
    await memory.drain()
    assert len(await memory.facts("g")) == 20


class Broken:
    """An extractor that fails until it is mended."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self.calls = 0
        self.called_often = asyncio.Event()

    async def extract(self, episode: object, context: object) -> Extraction:
        self.calls += 1
        if self.calls > 20:
            self.called_often.set()
        if self.error is not None:
            raise self.error
        return Extraction()


async def test_an_episode_that_dies_says_why_and_can_be_replayed(make: Callable[..., Memory]) -> None:
    broken = Broken(Poison("is unreadable", "content"))
    async with make(extractor=broken) as memory:
        with pytest.raises(EpisodeDied, match="extract: content: is unreadable"):
            await memory.add(works_at(1))
        many = await memory.add_many([works_at(2), works_at(3)])
        assert [a.state for a in many] == [EpisodeState.dead] * 2
        stored = await memory.episode("g", "e1")
        assert stored is not None
        assert (stored.state, stored.reason) == (EpisodeState.dead, "extract: content: is unreadable")
        assert [d.episode_id for d in await memory.dead()] == ["e1", "e2", "e3"]
    async with make(extractor=broken) as memory:
        broken.error = None
        calls = broken.calls
        await memory.drain()
        assert broken.calls == calls
        assert await memory.replay("g", "e1") == 1
        assert await memory.replay("g", "e1") == 0
        await memory.drain()
        stored = await memory.episode("g", "e1")
        assert stored is not None
        assert stored.state is EpisodeState.skipped
        assert [d.episode_id for d in await memory.dead()] == ["e2", "e3"]


async def test_an_unknown_error_is_tried_a_few_times_an_outage_for_ever(make: Callable[..., Memory]) -> None:
    broken = Broken(RuntimeError("boom"))
    async with make(extractor=broken) as memory:
        with pytest.raises(EpisodeDied, match="RuntimeError: boom"):
            await memory.add(works_at(1))
        assert broken.calls == 3
        broken.error = Retryable("the model is away")
        adding = asyncio.create_task(memory.add(works_at(2)))
        await broken.called_often.wait()
        broken.error = None
        assert (await adding).state is EpisodeState.skipped


async def test_a_wrong_setting_stops_the_runner_and_nothing_is_lost(make: Callable[..., Memory]) -> None:
    broken = Broken(SettingError("the model's package is missing"))
    async with make(extractor=broken) as memory:
        with pytest.raises(SettingError, match="package is missing"):
            await memory.add(works_at(1))
        with pytest.raises(SettingError):
            await memory.add(works_at(2))
    broken.error = None
    async with make(extractor=broken) as memory:
        await memory.drain()
        stored = await memory.episode("g", "e1")
        assert stored is not None
        assert stored.state is EpisodeState.skipped


async def test_one_group_does_not_hold_up_another(make: Callable[..., Memory]) -> None:
    gate = asyncio.Event()

    class Slow:
        async def extract(self, episode: object, context: object) -> Extraction:
            if episode.group_id == "slow":  # type: ignore[attr-defined]
                await gate.wait()
            return Extraction()

    async with make(extractor=Slow()) as memory:
        slow = asyncio.create_task(memory.add(works_at(1, group="slow")))
        assert (await memory.add(works_at(1, group="quick"))).state is EpisodeState.skipped
        assert not slow.done()
        gate.set()
        assert (await slow).state is EpisodeState.skipped


async def test_a_rebuild_gives_communities(memory: Memory) -> None:
    await memory.add_many([works_at(n, subject="Ana") for n in range(3)])
    assert await memory.rebuild_communities("g") == 1
    found = await memory.search("Ana", group_ids="g", scopes=["communities"])
    assert len(found.communities[0].members) == 4


async def test_a_file_that_cannot_be_used_says_why(make: Callable[..., Memory], tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="folder"):
        await make(path=tmp_path / "nowhere" / "x.db").open()
    other = tmp_path / "other.db"
    other.write_text("this is no database, but it is long enough to be read as the header of one " * 20)
    with pytest.raises(SettingError, match="no SQLite database"):
        await make(path=other).open()
    with pytest.raises(Retryable, match="no graph file"):
        await make(path=tmp_path / "none.db", read_only=True).open()
    with pytest.raises(RuntimeError, match="not open"):
        await make().add(works_at(1))


async def test_vectors_of_two_models_are_never_mixed(make: Callable[..., Memory]) -> None:
    async with make():
        pass

    class Other(HashingEmbedder):
        model = "other"  # type: ignore[assignment]

    for embedder in (Other(), HashingEmbedder(64)):
        with pytest.raises(SettingError, match="holds vectors of"):
            await make(embedder=embedder).open()
    async with make():
        pass


async def test_a_closed_memory_takes_nothing(make: Callable[..., Memory]) -> None:
    memory = make()
    await memory.open()
    await memory.close()
    with pytest.raises(RuntimeError, match="not open"):
        await memory.add(works_at(1))
    await memory.open()
    await memory.add(works_at(1))
    await memory.close()
    await memory.close()
