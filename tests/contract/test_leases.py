"""Leases: one rebuild of a group at a time, and a group at rest while it is swapped; other groups never wait."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pipeline.errors import Retryable
from pipeline.graph.ledger import CurationCommit, Lease
from pipeline.model.extraction import ExtractedEpisode
from tests.contract.curation_kit import Teller, says
from tests.contract.kit import Graph, day

MINE, YOURS = Lease("mine", "process 1"), Lease("yours", "process 2")


async def test_the_second_is_told_of_the_first(graph: Graph, group: str, other_group: str) -> None:
    store = graph.store
    assert await store.lease(group, MINE, 30) is None
    assert await store.lease(group, YOURS, 30) == MINE
    assert await store.lease(other_group, YOURS, 30) is None
    assert await store.lease(group, MINE, 30) is None
    await store.end_lease(group, "yours")
    assert await store.lease(group, YOURS, 30) == MINE
    await store.end_lease(group, "mine")
    assert await store.lease(group, YOURS, 30) is None


async def test_of_many_that_ask_at_once_one_gets_it(graph: Graph, group: str) -> None:
    asked = [graph.store.lease(group, Lease(f"t{n}", f"process {n}"), 30) for n in range(8)]
    answers = await asyncio.gather(*asked)
    assert answers.count(None) == 1
    (holder,) = {a for a in answers if a is not None}
    assert answers[int(holder.token[1:])] is None


async def test_a_lease_runs_out(graph: Graph, group: str) -> None:
    assert await graph.store.lease(group, MINE, 0.3, holds=True) is None
    await asyncio.sleep(0.5)
    await Teller(graph, group).tell(says("Ana", "KNOWS", "Bob"))
    assert await graph.store.lease(group, YOURS, 30) is None


async def test_a_held_group_takes_in_raw_episodes_and_nothing_else(
    graph: Graph, group: str, other_group: str
) -> None:
    teller, other = Teller(graph, group), Teller(graph, other_group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    await graph.store.lease(group, MINE, 30, holds=True)
    before = await teller.ledger()
    episode = teller.episode([says("Cem", "KNOWS", "Ana")])
    extracted = await teller.extract().run(episode)
    assert extracted.output
    with pytest.raises(Retryable, match="rebuild"):
        await teller.entities().run(ExtractedEpisode.model_validate_json(extracted.output))
    with pytest.raises(Retryable, match="rebuild"):
        await teller.communities().rebuild(group)
    with pytest.raises(Retryable, match="rebuild"):
        await teller.operator.forget_episodes(group, ["e1"])
    with pytest.raises(Retryable, match="rebuild"):
        await graph.store.erase_group(group, before.lanes, ("n", '{"changes": [], "touched": []}'))
    after = await teller.ledger()
    assert replace(after, outputs={}, episodes=before.episodes) == replace(before, outputs={})
    assert await graph.reader.episode(group, episode.id) is not None
    await other.tell(says("Ana", "KNOWS", "Bob"))
    # Who holds it may write.
    await graph.store.commit_curation(CurationCommit(group, after.lanes, day(1), lease=MINE.token))
    await graph.store.lease(group, MINE, 30, holds=False)
    await teller.entities().run(ExtractedEpisode.model_validate_json(extracted.output))


async def test_what_comes_after_a_swap_is_placed_behind_it(graph: Graph, group: str) -> None:
    teller = Teller(graph, group)
    await teller.tell(says("Ana", "KNOWS", "Bob"))
    ledger = await teller.ledger()
    await graph.store.commit_curation(CurationCommit(group, ledger.lanes, day(1), place=70))
    assert (await teller.ledger()).lanes["resolve_entities"] == 70
    await graph.store.commit_curation(CurationCommit(group, (await teller.ledger()).lanes, day(1), place=7))
    assert (await teller.ledger()).lanes["resolve_entities"] == 71
    await teller.tell(says("Ana", "KNOWS", "Cem"))
    assert max(c.place for c in (await teller.ledger()).contributions.values()) == 71


async def test_the_groups_are_listed(graph: Graph, group: str, other_group: str) -> None:
    await Teller(graph, group).tell(says("Ana", "KNOWS", "Bob"))
    assert await graph.store.lease(other_group, MINE, 30) is None
    listed = await graph.store.group_ids()
    assert group in listed
    assert other_group not in listed
