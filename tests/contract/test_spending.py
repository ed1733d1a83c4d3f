"""What a group has cost on a day: every store adds up what the commits of all stages carry."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal

from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.model.episode import EpisodeState, Usage
from tests.contract.kit import Graph, day, entity, episode


def extraction(group: str, name: str, usage: Usage, on: int) -> ExtractionCommit:
    ref = episode(group, name).ref
    return ExtractionCommit(
        ref, EpisodeState.extracted, "{}", usage, day(on) + timedelta(hours=23, minutes=59)
    )


async def test_a_group_that_has_spent_nothing(graph: Graph, group: str) -> None:
    assert await graph.store.spent(group, day(1).date()) == Usage()


async def test_commits_of_one_day_add_up_and_a_new_day_begins_anew(graph: Graph, group: str) -> None:
    one, two = episode(group, "e1"), episode(group, "e2")
    await graph.receive(one, two)
    paid = Usage(llm_calls=1, prompt_tokens=100, cost=Decimal("0.1"))
    await graph.store.commit_extraction(extraction(group, "e1", paid, 1))
    judged = Usage(llm_calls=1, embedding_tokens=5, cost=Decimal("0.2"))
    await graph.entities(one, entity(group, "Owl"), usage=judged, at=day(1))
    assert await graph.store.spent(group, day(1).date()) == paid + judged
    await graph.store.commit_extraction(extraction(group, "e2", paid, 2))
    assert await graph.store.spent(group, day(2).date()) == paid
    assert await graph.store.spent(group, day(1).date()) == Usage()


async def test_a_repeated_commit_is_counted_once(graph: Graph, group: str) -> None:
    await graph.receive(episode(group, "e1"))
    commit = extraction(group, "e1", Usage(llm_calls=1), 1)
    await graph.store.commit_extraction(commit)
    await graph.store.commit_extraction(commit)
    assert (await graph.store.spent(group, day(1).date())).llm_calls == 1


async def test_groups_are_counted_apart(graph: Graph, group: str) -> None:
    other = f"{group}-other"
    await graph.receive(episode(group, "e1"), episode(other, "e1"))
    await graph.store.commit_extraction(extraction(group, "e1", Usage(prompt_tokens=7), 1))
    assert await graph.store.spent(other, day(1).date()) == Usage()
