"""Any two entities that are merged and parted again are what they were."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from itertools import combinations
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pipeline.graph.ledger import Ledger
from tests.unit.curation.conftest import GROUP, START, meaning, story_of
from tests.unit.curation.test_forgetting_property import HISTORIES


@given(HISTORIES, st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_undoing_a_merge_gives_back_what_was(
    history: list[tuple[list[dict[str, Any]], str]], data: st.DataObject
) -> None:
    numbered = [(number, triples, at) for number, (triples, at) in enumerate(history, start=1)]
    asyncio.run(compare(numbered, data))


async def compare(numbered: list[tuple[int, list[dict[str, Any]], str]], data: st.DataObject) -> None:
    async with story_of(numbered) as story:
        before = await story.ledger()
        pairs = list(combinations(sorted(before.entities), 2))
        if not pairs:
            return
        apart, into = data.draw(st.sampled_from(pairs))
        story.line.now[0] = START + timedelta(hours=1)
        done = await story.operator.merge(GROUP, apart, into)
        one = await story.ledger()
        assert before.entities.keys() - one.entities.keys() == {apart}
        assert all(apart not in (f.source.id, f.target.id) for f in one.facts.values())
        story.line.now[0] = START + timedelta(hours=2)
        assert done.merge is not None
        await story.operator.undo_merge(GROUP, done.merge.id)
        after = await story.ledger()
        for part in ("entities", "mentions", "evidence"):
            assert meaning(after)[part] == meaning(before)[part], part
        assert believed(after) == believed(before)


def believed(ledger: Ledger) -> list[str]:
    """The facts by id, with what is believed of them last."""
    return sorted(
        repr((f.id, f.source, f.target, f.fact, b.valid_at, b.invalid_at, sorted(f.episodes_at())))
        for f in ledger.facts.values()
        if (b := f.beliefs[-1]).holds
    )
