"""Raw episodes: first content wins, threads give context, death and revival."""

from __future__ import annotations

from typing import Any

import pytest

from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.graph.mark import Mark
from pipeline.graph.search import Place, Progress
from pipeline.model.episode import EpisodeState, Source, Speaker, Usage
from tests.contract.kit import Graph, day, entity, episode


async def test_an_episode_is_kept_whole_and_readable_at_once(graph: Graph, group: str) -> None:
    given = episode(
        group,
        "e1",
        "Hola, ¿qué tal?\n安娜",
        source=Source.message,
        speaker=Speaker(name="Ana", role="user"),
        source_description="chat",
        thread_id="t",
        metadata={"s": "1", "i": 1, "f": 1.5, "b": True},
        ontology="crm",
        sequence=7,
    )
    received = await graph.store.receive(given, None, 4, day(2))
    assert (received.stored, received.mark, received.context) == (given, None, ())
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert (read.episode, read.state, read.usage, read.created_at) == (
        given,
        EpisodeState.received,
        Usage(),
        day(2),
    )
    assert [type(read.episode.metadata[key]) for key in "sifb"] == [str, int, float, bool]


@pytest.mark.parametrize(
    "content", [{"a": [1, 1.5, None, True, {"b": "c"}]}, [], None, 0, "", "text", [{"a": 1}, 2**60]]
)
async def test_json_content_keeps_its_types(graph: Graph, group: str, content: Any) -> None:
    await graph.receive(episode(group, "e1", source=Source.json).model_copy(update={"content": content}))
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert repr(read.episode.content) == repr(content)


async def test_the_first_content_wins_under_a_repeated_id(graph: Graph, group: str) -> None:
    first = episode(group, "e1", "the first", thread_id="t")
    await graph.receive(first, at=day(1))
    again = await graph.store.receive(
        episode(group, "e1", "the second", thread_id="u", reference_time=day(9)), None, 4, day(9)
    )
    assert again.stored == first
    read = await graph.reader.episode(group, "e1")
    assert read is not None
    assert (read.episode, read.created_at) == (first, day(1))


async def test_equal_ids_in_two_groups_are_two_episodes(graph: Graph, group: str, other_group: str) -> None:
    one, other = episode(group, "e1", "one"), episode(other_group, "e1", "other")
    await graph.receive(one, other)
    assert (await graph.store.receive(one, None, 4, day(1))).stored == one
    assert (await graph.store.receive(other, None, 4, day(1))).stored == other


async def test_the_context_is_what_comes_before_in_the_thread_oldest_first(
    graph: Graph, group: str, other_group: str
) -> None:
    await graph.receive(
        episode(group, "d3", thread_id="t", reference_time=day(3), sequence=1),
        episode(group, "d1", thread_id="t", reference_time=day(1), sequence=2),
        episode(group, "d5", thread_id="t", reference_time=day(5), sequence=3),
        episode(group, "d4", thread_id="t", reference_time=day(4), sequence=4),
        episode(group, "elsewhere", thread_id="u", reference_time=day(3), sequence=5),
        episode(group, "nowhere", reference_time=day(3), sequence=6),
        episode(other_group, "foreign", thread_id="t", reference_time=day(3), sequence=1),
    )
    new = episode(group, "new", thread_id="t", reference_time=day(4), sequence=7)
    assert [e.id for e in (await graph.store.receive(new, None, 4, day(1))).context] == ["d1", "d3", "d4"]
    assert [e.id for e in (await graph.store.receive(new, None, 2, day(1))).context] == ["d3", "d4"]
    assert (await graph.store.receive(new, None, 0, day(1))).context == ()


async def test_of_one_time_the_context_is_what_arrived_before(graph: Graph, group: str) -> None:
    first, second = (episode(group, f"e{n}", thread_id="t", sequence=n) for n in (1, 2))
    await graph.receive(first, second)
    assert [e.id for e in (await graph.store.receive(second, None, 4, day(1))).context] == ["e1"]
    assert (await graph.store.receive(first, None, 4, day(1))).context == ()


async def test_without_a_thread_there_is_no_context(graph: Graph, group: str) -> None:
    await graph.receive(episode(group, "e1", reference_time=day(1)))
    received = await graph.store.receive(
        episode(group, "e2", reference_time=day(2), sequence=2), None, 4, day(1)
    )
    assert received.context == ()


async def _state(graph: Graph, group: str, episode_id: str = "e1") -> tuple[EpisodeState, str | None]:
    read = await graph.reader.episode(group, episode_id)
    assert read is not None
    return read.state, read.reason


async def test_the_dead_come_back_to_what_their_marks_say(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.receive(one)

    async def dies_and_comes_back_as(state: EpisodeState) -> None:
        assert await graph.store.mark_dead(group, "e1", "no use")
        assert await _state(graph, group) == (EpisodeState.dead, "no use")
        assert await graph.store.mark_dead(group, "e1", "another reason")
        assert await _state(graph, group) == (EpisodeState.dead, "no use")
        await graph.store.revive(group, "e1")
        assert await _state(graph, group) == (state, None)

    await dies_and_comes_back_as(EpisodeState.received)
    await graph.store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "{}", Usage()))
    await dies_and_comes_back_as(EpisodeState.extracted)
    await graph.entities(one, entity(group, "Ana"))
    await dies_and_comes_back_as(EpisodeState.resolved)
    await graph.facts(one)
    await graph.store.settle(one.ref)
    assert not await graph.store.mark_dead(group, "e1", "too late")
    assert await _state(graph, group) == (EpisodeState.committed, None)


async def test_what_a_received_episode_waits_for_is_told_until_it_goes_on(graph: Graph, group: str) -> None:
    one = episode(group, "e1")
    await graph.store.hold(group, "e1", "not there yet")
    await graph.receive(one)
    assert await _state(graph, group) == (EpisodeState.received, None)
    await graph.store.hold(group, "e1", "the budget is used up")
    assert await _state(graph, group) == (EpisodeState.received, "the budget is used up")
    await graph.store.hold(group, "e1", "another reason")
    await graph.receive(one)
    assert await _state(graph, group) == (EpisodeState.received, "another reason")
    await graph.store.commit_extraction(ExtractionCommit(one.ref, EpisodeState.extracted, "{}", Usage()))
    assert await _state(graph, group) == (EpisodeState.extracted, None)
    await graph.store.hold(group, "e1", "too late")
    assert await _state(graph, group) == (EpisodeState.extracted, None)


async def test_final_living_and_unknown_episodes_are_left_alone(
    graph: Graph, group: str, other_group: str
) -> None:
    one = episode(group, "e1")
    await graph.receive(one)
    await graph.store.revive(group, "e1")
    await graph.store.mark_dead(other_group, "e1", "wrong group")
    await graph.store.revive(other_group, "e1")
    assert await graph.store.mark_dead(group, "e2", "unknown")
    await graph.store.revive(group, "e2")
    assert await _state(graph, group) == (EpisodeState.received, None)
    assert await graph.reader.episode(group, "e2") is None
    assert await graph.store.commit_extraction(
        ExtractionCommit(one.ref, EpisodeState.skipped, None, Usage())
    ) == Mark(None)
    await graph.store.mark_dead(group, "e1", "too late")
    assert await _state(graph, group) == (EpisodeState.skipped, None)


async def test_episodes_are_listed_newest_first(graph: Graph, group: str, other_group: str) -> None:
    assert list(await graph.reader.episodes(group, before=None, limit=5, thread_id=None)) == []
    await graph.receive(
        episode(group, "b", reference_time=day(2), sequence=1, thread_id="t"),
        episode(group, "a", reference_time=day(1), sequence=2),
        episode(group, "c1", reference_time=day(3), sequence=3, thread_id="t"),
        episode(group, "c2", reference_time=day(3), sequence=4),
        episode(other_group, "foreign", reference_time=day(2)),
    )

    async def listed(**asked: Any) -> list[str]:
        found = await graph.reader.episodes(
            group, **{"before": None, "limit": 10, "thread_id": None, **asked}
        )
        return [each.episode.id for each in found]

    assert await listed() == ["c2", "c1", "b", "a"]
    assert await listed(limit=2) == ["c2", "c1"]
    assert await listed(before=day(3)) == ["b", "a"]
    assert await listed(before=day(1)) == []
    assert await listed(thread_id="t") == ["c1", "b"]
    assert await listed(thread_id="t", before=day(3), limit=1) == ["b"]
    assert await listed(thread_id="u") == []
    assert await listed(before=Place(day(3), 4)) == ["c1", "b", "a"]
    assert await listed(before=Place(day(3), 3)) == ["b", "a"]
    assert await listed(before=Place(day(3), 4), thread_id="t") == ["c1", "b"]


async def test_the_state_of_an_episode(graph: Graph, group: str, other_group: str) -> None:
    assert await graph.reader.state(group, "e1") is None
    await graph.receive(episode(group, "e1"), episode(other_group, "e2"))
    assert await graph.reader.state(group, "e1") == Progress(EpisodeState.received)
    assert await graph.reader.state(group, "e2") is None
    await graph.store.mark_dead(group, "e1", "no model")
    assert await graph.reader.state(group, "e1") == Progress(EpisodeState.dead, "no model")
