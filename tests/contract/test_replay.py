"""A log told again to an empty group says what the first telling said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

import pytest

from pipeline.errors import Poison
from pipeline.graph.entity_port import EntityCommit, EntityWrite
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.extraction import ExtractedEpisode
from pipeline.replay.logged import logged
from tests.contract.kit import Graph, day, entity, episode, vector
from tests.contract.replay_kit import NobodyToAsk, Stages, Written, lived, random_history, recorded, said

T = TypeVar("T")


def _shuffled(chance: Random, some: Sequence[T]) -> list[T]:
    return chance.sample(some, len(some))


@pytest.mark.parametrize("seed", [1, 2, 3])
async def test_from_extractions_and_records_without_any_model_whatever_their_order(
    graph: Graph, group: str, seed: int
) -> None:
    chance = Random(seed)
    history = random_history(chance, group, 12)
    await lived(graph, history, str(seed))
    assert any(v.same for j in history.judged for v in j.mentions)
    assert any(j.statements for j in history.judged)
    before, record = await said(graph, group), await recorded(graph, group)
    await graph.wipe(group)
    again = Stages(graph.store, NobodyToAsk(), NobodyToAsk(), NobodyToAsk())
    log = logged(_shuffled(chance, history.episodes), _shuffled(chance, history.extracted))
    done = await again.replay.run(_shuffled(chance, log), _shuffled(chance, history.judged))
    assert await said(graph, group) == before
    assert (done.unrecorded, done.lost, done.episodes) == (0, 0, 12)
    # What was decided is in the new graph's own record, word for word.
    assert record
    assert await recorded(graph, group) == record


async def test_from_raw_episodes_an_extractor_and_the_record(graph: Graph, group: str) -> None:
    history = random_history(Random(4), group, 12)
    await lived(graph, history, "4")
    before = await said(graph, group)
    await graph.wipe(group)
    again = Stages(graph.store, Written(history.found), NobodyToAsk(), NobodyToAsk())
    done = await replace(again.replay, asks_extractor=True).run(logged(history.episodes, ()), history.judged)
    assert await said(graph, group) == before
    assert (done.unrecorded, done.lost) == (0, 0)


async def test_a_second_replay_changes_nothing(graph: Graph, group: str) -> None:
    history = random_history(Random(5), group, 8)
    await lived(graph, history, "5")
    before = await said(graph, group)
    await graph.wipe(group)
    log = logged(history.episodes, history.extracted)
    for _ in range(2):
        await Stages(graph.store, NobodyToAsk()).replay.run(log, history.judged)
    assert await said(graph, group) == before


async def test_without_a_record_questions_are_counted_and_answered_by_neither(
    graph: Graph, group: str
) -> None:
    history = random_history(Random(6), group, 12)
    await lived(graph, history, "6")
    await graph.wipe(group)
    log = logged(history.episodes, history.extracted)
    again = Stages(graph.store, NobodyToAsk(), NobodyToAsk(), NobodyToAsk())
    done = await again.replay.run(log)
    assert done.unrecorded > 0
    ledger = await again.store.ledger(group)
    assert ledger.merges == {}
    assert not any(e.rule == "judge" for e in ledger.evidence.values())


async def test_an_episode_that_died_dies_again_and_one_that_said_nothing_is_skipped(
    graph: Graph, group: str
) -> None:
    history = random_history(Random(7), group, 2)
    log = logged(history.episodes, ())
    log = [log[0], replace(log[1], dead="extract: no answer")]
    done = await Stages(graph.store, NobodyToAsk()).replay.run(log)
    assert done.states == {EpisodeState.skipped: 1, EpisodeState.dead: 1}
    read = await graph.reader.episode(group, log[1].episode.id)
    assert read is not None
    assert (read.state, read.reason) == (EpisodeState.dead, "extract: no answer")


async def test_mentions_of_an_episode_that_is_not_in_the_graph_are_refused(graph: Graph, group: str) -> None:
    stranger, ana = episode(group, "e1"), entity(group, "Ana")
    commit = EntityCommit(
        stranger.ref, 0, (EntityWrite(ana, vector("Ana")),), (ana.id,), "{}", Usage(), day(1)
    )
    with pytest.raises(Poison, match="not in the graph"):
        await graph.store.commit_entities(commit)
    assert await graph.reader.entity(group, ana.id) is None
    await graph.receive(stranger)
    await graph.store.commit_entities(commit)
    assert await graph.reader.entity(group, ana.id) is not None


def test_an_extraction_without_its_raw_episode_is_refused() -> None:
    history = random_history(Random(8), "g", 1)
    event = ExtractedEpisode(episode=history.episodes[0].ref, extraction=history.found["e1"])
    with pytest.raises(Poison, match="raw event"):
        logged([], [event])
