"""Two hundred episodes through all stages while the model's endpoint refuses every third call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from factstream.memory import Memory
from factstream.settings import Settings
from pipeline.embedding.hashing import HashingEmbedder
from tests.llm_support import RecordingObserver
from tests.model_server import ModelServer, Status

EPISODES, GROUPS = 200, 8


def said(number: int) -> dict[str, Any]:
    return {
        "id": f"e{number}",
        "group_id": f"g{number % GROUPS}",
        "source": "message",
        "speaker": {"name": "Ana"},
        "content": f"I bought a Thing{number:03}. I use Tool{number:03}.",
        "reference_time": "2024-03-01T09:00:00Z",
    }


async def test_all_episodes_are_complete_and_none_is_partial(make: Callable[..., Memory]) -> None:
    observer = RecordingObserver()
    async with ModelServer() as server:
        server.on(Status(429, retry_after=0.02), when=lambda request: request.number % 3 == 0)
        settings = Settings(extractor="model", model_url=server.url, model="big", embedder="hashing")
        options: dict[str, Any] = {"settings": settings, "extractor": None, "observer": observer}
        async with make(embedder=HashingEmbedder(), **options) as memory:
            added = await memory.add_many([said(number) for number in range(EPISODES)])
            assert {one.state for one in added} == {"committed"}
            for group in range(GROUPS):
                facts = await memory.facts(f"g{group}")
                wanted = {
                    (relation, f"{thing}{n:03}")
                    for n in range(group, EPISODES, GROUPS)
                    for relation, thing in (("BOUGHT", "Thing"), ("USES", "Tool"))
                }
                assert {(fact.relation, fact.target.name) for fact in facts} == wanted
            assert await memory.dead() == []
        assert observer.outcomes["extract", "429"] > EPISODES / 3
