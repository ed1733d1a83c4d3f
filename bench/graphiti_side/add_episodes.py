"""Adds messages to graphiti-core, one for each line of JSON on standard input; answers one line of JSON for each.

Runs in an environment that has graphiti-core and httpx and nothing of factstream:

    python add_episodes.py ENDPOINT_URL BOLT_URI DIMENSION

A line is {"group", "name", "speaker", "content", "reference_time"}; the answer is {"nodes", "edges"} or {"error"}.
Or a line is a list of lists of such messages: the lists are added side by side, the messages of each one after the
other, as graphiti's documents ask for; the answer is {"seconds", "nodes", "edges", "failed"}.
The first answer, {"version"}, says that the indexes are there.
"""

import asyncio
import importlib.metadata
import json
import os
import sys
import time
from datetime import datetime

os.environ.setdefault("GRAPHITI_TELEMETRY_ENABLED", "false")

from graphiti_core import Graphiti  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.cross_encoder.openai_reranker_client import (  # type: ignore[import-not-found,unused-ignore]
    OpenAIRerankerClient,
)
from graphiti_core.embedder.openai import (  # type: ignore[import-not-found,unused-ignore]
    OpenAIEmbedder,
    OpenAIEmbedderConfig,
)
from graphiti_core.llm_client.config import LLMConfig  # type: ignore[import-not-found,unused-ignore]
from graphiti_core.llm_client.openai_generic_client import (  # type: ignore[import-not-found,unused-ignore]
    OpenAIGenericClient,
)
from graphiti_core.nodes import EpisodeType  # type: ignore[import-not-found,unused-ignore]


async def main(url: str, bolt: str, dimension: int) -> None:
    """Until standard input ends."""
    config = LLMConfig(api_key="none", model="scripted", small_model="scripted", base_url=url, temperature=0)
    graphiti = Graphiti(
        bolt,
        "neo4j",
        "none",
        llm_client=OpenAIGenericClient(config),
        embedder=OpenAIEmbedder(
            OpenAIEmbedderConfig(
                api_key="none", base_url=url, embedding_model="scripted", embedding_dim=dimension
            )
        ),
        cross_encoder=OpenAIRerankerClient(config),
    )
    await graphiti.build_indices_and_constraints()
    tell({"version": importlib.metadata.version("graphiti-core")})
    while line := await asyncio.to_thread(sys.stdin.readline):
        told = json.loads(line)
        if isinstance(told, list):
            tell(await add_side_by_side(graphiti, told))
            continue
        try:
            tell(await add(graphiti, told))
        except Exception as error:
            tell({"error": f"{type(error).__name__}: {error}"})
    await graphiti.close()


async def add(graphiti: Graphiti, told: dict[str, str]) -> dict[str, object]:
    """One message."""
    made = await graphiti.add_episode(
        name=told["name"],
        episode_body=f"{told['speaker']}: {told['content']}",
        source=EpisodeType.message,
        source_description="chat",
        reference_time=datetime.fromisoformat(told["reference_time"]),
        group_id=told["group"],
    )
    return {"nodes": len(made.nodes), "edges": len(made.edges)}


async def add_side_by_side(graphiti: Graphiti, groups: list[list[dict[str, str]]]) -> dict[str, object]:
    """Groups side by side; a message that fails does not stop those after it."""
    failed = []

    async def one(messages: list[dict[str, str]]) -> list[dict[str, object]]:
        made = []
        for message in messages:
            try:
                made.append(await add(graphiti, message))
            except Exception as error:
                failed.append(f"{type(error).__name__}: {error}")
        return made

    started = time.monotonic()
    made = [m for some in await asyncio.gather(*map(one, groups)) for m in some]
    return {
        "seconds": time.monotonic() - started,
        "nodes": sum(int(str(m["nodes"])) for m in made),
        "edges": sum(int(str(m["edges"])) for m in made),
        "failed": len(failed),
        "first_failure": failed[0] if failed else None,
    }


def tell(answer: dict[str, object]) -> None:
    """One line, at once."""
    print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
