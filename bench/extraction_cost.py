"""What reading one message costs: calls and tokens of the model extractor, by the number of entities in it.

    python -m bench.extraction_cost

Runs against the scripted endpoint of the tests over HTTP, so that it needs no model; tokens are estimated at four
letters each.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

from pipeline.extraction.model.extractor import ModelExtractor
from pipeline.llm.client import OpenAIChat
from pipeline.llm.endpoint import Endpoint
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.observer import SilentObserver
from tests.model_server import ModelServer

SENTENCES = (
    "Bruno Falk works at Globex.",
    "Clara Ruiz lives in Lima since 2019.",
    "Dora Sol bought a Tesla last week.",
    "Emil Rot founded Initech.",
    "Fay Lund knows Gil Mora.",
    "Umbrella is based in Quito.",
)
MESSAGES = {
    "thanks only": "Ok, thanks!",
    "no other entity": "I have been jogging every morning.",
    "2 entities, 1 fact": SENTENCES[0],
    "6 entities, 3 facts": " ".join(SENTENCES[:3]),
    "12 entities, 6 facts": " ".join(SENTENCES),
}


async def main() -> None:
    """Print the table."""
    async with ModelServer() as server:
        endpoint = Endpoint(server.url)
        observer = SilentObserver()
        extractor = ModelExtractor(OpenAIChat(endpoint, "scripted", observer), observer)
        print(f"{'message':<24}{'entities':>9}{'facts':>7}{'calls':>7}{'prompt':>8}{'answer':>8}")
        for name, content in MESSAGES.items():
            episode = Episode(
                id=name,
                group_id="bench",
                source=Source.message,
                content=content,
                reference_time=datetime(2024, 3, 14, 9, tzinfo=UTC),
                sequence=1,
                speaker=Speaker(name="Ana"),
            )
            found = await extractor.extract(episode, ())
            cost = found.usage
            print(
                f"{name:<24}{len(found.mentions):>9}{len(found.statements):>7}{cost.llm_calls:>7}"
                f"{cost.prompt_tokens:>8}{cost.completion_tokens:>8}"
            )
        await endpoint.close()


if __name__ == "__main__":
    asyncio.run(main())
