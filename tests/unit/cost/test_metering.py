"""Who pays for an embedding."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from pipeline.cost.metering import Meter, charge, shares
from pipeline.embedding.cached import CachingEmbedder
from pipeline.model.episode import Usage
from pipeline.observer import SilentObserver


class Charging:
    """An embedder that charges ten tokens and one hundredth for each text."""

    model = "charging"
    dimension = 2

    def __init__(self) -> None:
        self.asked: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.asked.append(list(texts))
        await self.gate.wait()
        charge(Usage(embedding_tokens=10 * len(texts), cost=Decimal("0.01") * len(texts)))
        return [[1.0, 0.0] for _ in texts]


async def metered(embedder: CachingEmbedder, *texts: str) -> Usage:
    meter = Meter.begin()
    await embedder.embed(texts)
    return meter.usage


async def alone(embedder: CachingEmbedder, *texts: str) -> Usage:
    """In a task of its own, as a lane runs it."""
    return await asyncio.create_task(metered(embedder, *texts))


async def test_the_first_to_use_a_text_pays_for_it_and_nobody_else() -> None:
    embedder = CachingEmbedder(Charging(), 10, SilentObserver())
    assert await alone(embedder, "a", "b") == Usage(embedding_tokens=20, cost=Decimal("0.02"))
    assert await alone(embedder, "b", "c") == Usage(embedding_tokens=10, cost=Decimal("0.01"))
    assert await alone(embedder, "a", "b", "c") == Usage()


async def test_what_was_embedded_ahead_is_paid_by_those_who_use_it() -> None:
    embedder = CachingEmbedder(Charging(), 10, SilentObserver())
    await embedder.embed(["one text", "other text"])
    first, second = await alone(embedder, "one text"), await alone(embedder, "other text")
    assert first + second == Usage(embedding_tokens=20, cost=Decimal("0.02"))
    assert first.embedding_tokens > 0
    assert second.embedding_tokens > 0


async def test_two_that_wait_for_one_call_do_not_pay_twice() -> None:
    inner = Charging()
    inner.gate.clear()
    embedder = CachingEmbedder(inner, 10, SilentObserver())
    both = [asyncio.create_task(metered(embedder, "a")) for _ in range(2)]
    while not inner.asked:
        await asyncio.sleep(0)
    inner.gate.set()
    first, second = await asyncio.gather(*both)
    assert inner.asked == [["a"]]
    assert first + second == Usage(embedding_tokens=10, cost=Decimal("0.01"))


async def test_a_stage_that_follows_in_the_same_task_pays_only_its_own() -> None:
    embedder = CachingEmbedder(Charging(), 10, SilentObserver())
    first = await metered(embedder, "a")
    second = await metered(embedder, "b")
    assert (first.embedding_tokens, second.embedding_tokens) == (10, 10)


def test_nobody_is_charged_where_nobody_is_metered() -> None:
    assert not asyncio.run(_charged())


async def _charged() -> bool:
    return charge(Usage(embedding_tokens=1))


@given(
    st.lists(st.text(max_size=30), min_size=1, max_size=12),
    st.integers(0, 100_000),
    st.one_of(st.none(), st.decimals(0, 1000, places=12)),
)
def test_shares_add_up_to_the_whole(texts: list[str], tokens: int, cost: Decimal | None) -> None:
    made = shares(Usage(embedding_tokens=tokens, cost=cost), texts)
    assert len(made) == len(texts)
    assert sum(one.embedding_tokens for one in made) == tokens
    assert all(one.embedding_tokens >= 0 for one in made)
    assert cost is None or sum(one.cost for one in made if one.cost is not None) == cost
