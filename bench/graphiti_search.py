"""The questions of bench/search_scale.py through graphiti-core; run by that bench, in an environment of its own.

    PYTHON bench/graphiti_search.py --bolt URI < asked.json > took.json

In: {group, questions: [[text, vector], …], clients: [1, 16]}. Out: {version, took: {clients: [milliseconds, …]}}. Asked
is `Graphiti.search`, its hybrid search of facts fused by reciprocal rank, over the same facts in the same database:
the graph has the labels and properties that graphiti writes. Its indexes are made before and dropped after.
"""

import argparse
import asyncio
import json
import logging
import os
import sys
import time
from importlib.metadata import version

os.environ["GRAPHITI_TELEMETRY_ENABLED"] = "false"

from graphiti_core import Graphiti
from graphiti_core.cross_encoder.client import CrossEncoderClient
from graphiti_core.embedder.client import EmbedderClient
from graphiti_core.llm_client.client import LLMClient
from graphiti_core.llm_client.config import LLMConfig


class Given(EmbedderClient):
    """The vectors that were handed over."""

    def __init__(self, vectors):
        self.vectors = vectors

    async def create(self, input_data):
        return self.vectors[input_data if isinstance(input_data, str) else input_data[0]]


class Unused(CrossEncoderClient):
    """Ranks nothing."""

    async def rank(self, query, passages):
        return [(passage, 1.0) for passage in passages]


class Silent(LLMClient):
    """A search asks no model."""

    async def _generate_response(self, *asked, **more):
        raise AssertionError("a search has asked the model")


async def indexes(graphiti):
    records, _, _ = await graphiti.driver.execute_query("SHOW INDEXES YIELD name RETURN name")
    return {record["name"] for record in records}


async def populated(graphiti):
    for _ in range(900):
        records, _, _ = await graphiti.driver.execute_query(
            "SHOW INDEXES YIELD state WHERE state = 'POPULATING' RETURN count(*) AS count"
        )
        if records[0]["count"] == 0:
            return
        await asyncio.sleep(1)
    raise TimeoutError("the indexes of the database are not populated")


async def timed(graphiti, asked, clients):
    took, waiting = [], iter(asked["questions"])

    async def client():
        for text, _ in waiting:
            started = time.perf_counter()
            await graphiti.search(text, group_ids=[asked["group"]], num_results=10)
            took.append((time.perf_counter() - started) * 1000)

    await asyncio.gather(*(client() for _ in range(clients)))
    return took


async def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bolt", required=True)
    options = parser.parse_args()
    asked = json.load(sys.stdin)
    logging.disable(logging.CRITICAL)
    graphiti = Graphiti(
        options.bolt,
        "",
        "",
        llm_client=Silent(LLMConfig(api_key="none", model="none")),
        embedder=Given(dict(asked["questions"])),
        cross_encoder=Unused(),
    )
    before = await indexes(graphiti)
    try:
        await graphiti.build_indices_and_constraints()
        await populated(graphiti)
        text = asked["questions"][0][0]
        await graphiti.search(text, group_ids=[asked["group"]], num_results=10)
        took = {clients: await timed(graphiti, asked, clients) for clients in asked["clients"]}
    finally:
        for name in sorted(await indexes(graphiti) - before):
            await graphiti.driver.execute_query(f"DROP INDEX `{name}` IF EXISTS")
        await graphiti.close()
    json.dump({"version": version("graphiti-core"), "took": took}, sys.stdout)


if __name__ == "__main__":
    asyncio.run(main())
