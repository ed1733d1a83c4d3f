"""A group whose budget is used up waits in the embedded memory, and no other group waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from factstream.memory import Memory
from pipeline.errors import Parked
from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction, Mention
from tests.unit.memory.conftest import QUICK


class Budgeted:
    """Parks what the group "poor" says for as long as it has nothing."""

    def __init__(self) -> None:
        self.parked = asyncio.Event()
        self.poor = True

    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        if episode.group_id == "poor" and self.poor:
            self.parked.set()
            raise Parked("the budget is used up", datetime.now(UTC) + timedelta(milliseconds=20))
        return Extraction(mentions=(Mention(name="Ana"),))


def said(group: str) -> dict[str, Any]:
    return {"group_id": group, "source": "text", "content": f"Ana is {group}."}


async def test_a_parked_group_takes_no_place_from_others_and_goes_on_when_it_may(
    make: Callable[..., Memory],
) -> None:
    extractor = Budgeted()
    options: dict[str, Any] = {"extractor": extractor, "policy": replace(QUICK, ahead=1)}
    async with make(**options) as memory:
        poor = asyncio.create_task(memory.add(said("poor")))
        await extractor.parked.wait()
        await memory.add(said("rich"))
        assert [e.name for e in await memory.entities("rich")] == ["Ana"]
        assert not poor.done()
        extractor.poor = False
        await poor
        assert [e.name for e in await memory.entities("poor")] == ["Ana"]
