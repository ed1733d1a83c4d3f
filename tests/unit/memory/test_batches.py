"""A batch costs few embedding calls, and gives what one by one gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from factstream.memory import Memory
from pipeline.embedding.hashing import HashingEmbedder
from tests.unit.memory.events import works_at


class Counted(HashingEmbedder):
    """Counts calls and texts."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = self.texts = 0

    async def embed(self, texts: Sequence[str], *, query: bool = False) -> list[list[float]]:
        self.calls += 1
        self.texts += len(texts)
        return await super().embed(texts, query=query)


async def told(memory: Memory) -> list[tuple[str, str, object, object, tuple[str, ...]]]:
    facts = await memory.facts("g")
    return [(f.source.name, f.target.name, f.valid_at, f.invalid_at, f.episodes) for f in facts]


async def test_a_batch_asks_the_embedder_far_less_often(make: Callable[..., Memory], tmp_path: Path) -> None:
    events = [works_at(n, one=True) for n in range(60)]
    single, batch = Counted(), Counted()
    async with make(path=tmp_path / "single.db", embedder=single) as memory:
        for event in events:
            await memory.add(event)
        one_by_one = await told(memory)
    async with make(path=tmp_path / "batch.db", embedder=batch) as memory:
        await memory.add_many(events)
        together = await told(memory)
    assert together == one_by_one
    assert len(together) == 60
    assert single.calls >= 60
    assert batch.calls * 4 <= single.calls
    assert batch.texts <= single.texts


async def test_any_order_of_groups_in_a_batch_keeps_the_order_inside_a_group(memory: Memory) -> None:
    events = [works_at(n, group=f"g{n % 3}", subject="Ana", one=True) for n in range(30)]
    await memory.add_many(events)
    for group in range(3):
        facts = await memory.facts(f"g{group}")
        assert [f.target.name for f in facts] == [f"C{n}" for n in range(group, 30, 3)]
        assert [f.invalid_at is None for f in facts] == [False] * 9 + [True]
