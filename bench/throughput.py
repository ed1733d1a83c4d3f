"""Episodes a minute when every call of the model takes a second: one group, fifty groups, and graphiti-core beside it.

    python -m bench.throughput --root DIR [--graphiti-venv DIR] [--kafka HOST:PORT --bolt URI]
                               [--groups 50] [--messages 20] [--latency 1.0]

Gateway, worker and search service are processes of their own over Kafka and Neo4j; the model is the scripted endpoint
of the tests, whose chat answers take `--latency` seconds (embeddings none). First one group of `--messages` chat
messages alone, then `--groups` groups of as many at once. The ideal is what the calls alone cost: for each group one
extraction (the others run side by side with it) and then, one after the other, the calls that its episodes made in
their turn; the longest group counts.

With --graphiti-venv, graphiti-core adds the same messages over the same endpoint into the same Neo4j in the same run:
the one group, then all groups side by side with each group's messages in order. Its documents ask to add the episodes
of a group one after the other; an application that does so for all of its groups has the rate of the one group.
"""

from __future__ import annotations

import argparse
import asyncio
import time
import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from bench.graphiti_side import answers
from bench.graphiti_side.process import GraphitiProcess, python_of
from bench.spine_load import chat
from bench.spine_services import Target, services
from bench.status_follower import Told, follow
from tests.model_server import ModelServer

DIMENSION = 384
Message = dict[str, Any]


@dataclass(frozen=True)
class Rate:
    """So many episodes in so many seconds; `ideal` is what the model's calls alone would take (0: not known)."""

    episodes: int
    seconds: float
    calls: int
    ideal: float = 0.0

    @property
    def a_minute(self) -> float:
        """Episodes a minute."""
        return self.episodes / self.seconds * 60


async def publish(gateway: str, messages: Sequence[Message]) -> None:
    """One group after the other; the messages of a group in one request."""
    groups: dict[str, list[Message]] = defaultdict(list)
    for message in messages:
        groups[message["group_id"]].append(message)
    async with httpx.AsyncClient(timeout=60, trust_env=False) as http:
        for own in groups.values():
            (await http.post(f"{gateway}/v1/episodes", json=own)).raise_for_status()


async def ours(target: Target, server: ModelServer, messages: Sequence[Message], latency: float) -> Rate:
    """Publish, and wait until all are committed."""
    before = len(server.chats)
    wanted = {(m["group_id"], m["id"]) for m in messages}
    started = time.time()
    following = asyncio.create_task(follow(target.bootstrap, target.prefix, wanted))
    await publish(target.urls["gateway"], messages)
    told = await following
    if dead := [key for key, states in told.items() if "dead" in states]:
        raise SystemExit(f"{len(dead)} episodes died, such as {dead[0]}")
    last = max(max(state.at for state in states.values()) for states in told.values())
    return Rate(len(messages), last - started, len(server.chats) - before, longest_chain(told) * latency)


def longest_chain(told: Mapping[tuple[str, str], Mapping[str, Told]]) -> int:
    """Calls one after the other in the group with most: its first extraction, and all that came after extraction."""
    chains: dict[str, int] = defaultdict(int)
    for (group, _), states in told.items():
        extracted = states["extracted"].calls if "extracted" in states else 0
        chains[group] += max(state.calls for state in states.values()) - extracted
    return 1 + max(chains.values())


async def theirs(graphiti: GraphitiProcess, server: ModelServer, messages: Sequence[Message]) -> Rate:
    """The same through graphiti-core."""
    groups: dict[str, list[dict[str, str]]] = defaultdict(list)
    for message in messages:
        groups[message["group_id"]].append(
            {
                "group": message["group_id"].replace("bench-", "graphiti-"),
                "name": message["id"],
                "speaker": message["speaker"]["name"],
                "content": message["content"],
                "reference_time": message["reference_time"],
            }
        )
    before = len(server.chats)
    made = await graphiti.add_side_by_side(list(groups.values()))
    if made["failed"]:
        print(f"graphiti-core failed for {made['failed']} episodes: {made['first_failure']}")
    return Rate(len(messages) - made["failed"], made["seconds"], len(server.chats) - before)


def show(who: str, what: str, rate: Rate) -> None:
    """A row."""
    ideal = f"{rate.seconds / rate.ideal:.2f}" if rate.ideal else "–"
    print(
        f"| {who} | {what} | {rate.seconds:.1f} | {rate.a_minute:.0f} | {rate.calls / rate.episodes:.2f} | {ideal} |",
        flush=True,
    )


async def main(target: Target, server: ModelServer, run: str, given: argparse.Namespace) -> None:
    """Measure and print."""
    alone = chat(given.messages, 1, f"{run}-alone")
    many = chat(given.messages * given.groups, given.groups, f"{run}-many")
    await ours(target, server, chat(2, 2, f"{run}-warm"), given.latency)
    print(f"{given.latency} s a call, {given.messages} messages a group")
    print(
        "| who | groups | seconds | episodes/min | calls/episode | against the ideal |\n|---|---|---|---|---|---|"
    )
    one = await ours(target, server, alone, given.latency)
    show("factstream", "1", one)
    all_ = await ours(target, server, many, given.latency)
    show("factstream", str(given.groups), all_)
    print(f"{given.groups} groups against one: {all_.seconds / one.seconds:.2f} times the time", flush=True)
    if given.graphiti_venv is None:
        return
    python = python_of(given.graphiti_venv)
    async with GraphitiProcess(
        python, server.url, target.bolt, DIMENSION, given.root / "graphiti.log"
    ) as graphiti:
        name = f"graphiti-core {graphiti.version}"
        other = await theirs(graphiti, server, alone)
        show(name, "1", other)
        others = await theirs(graphiti, server, many)
        show(f"{name}, side by side", str(given.groups), others)
    print(f"one group: {one.a_minute / other.a_minute:.1f} times graphiti-core")
    print(
        f"{given.groups} groups: {all_.a_minute / other.a_minute:.1f} times graphiti-core one after the other, ",
        end="",
    )
    print(f"{all_.a_minute / others.a_minute:.1f} times side by side")


async def measured(given: argparse.Namespace, run: str) -> None:
    """With the endpoint and all services."""
    async with ModelServer(latency=given.latency, embedding_latency=0.0, dimension=DIMENSION) as server:
        server.on(answers.answer, when=answers.is_graphiti)
        more = {
            "FACTSTREAM_EXTRACTOR": "model",
            "FACTSTREAM_MODEL_URL": server.url,
            "FACTSTREAM_MODEL": "scripted",
            "FACTSTREAM_MODEL_CONCURRENCY": "200",
            "FACTSTREAM_EMBEDDING_MODEL": "scripted",
            "FACTSTREAM_EMBEDDING_DIMENSION": str(DIMENSION),
            "FACTSTREAM_CONCURRENCY": "64",
            "FACTSTREAM_AHEAD": "64",
        }
        opened = services(given.root, "openai", run, given.kafka, given.bolt, more)
        target = await asyncio.to_thread(opened.__enter__)
        try:
            await main(target, server, run, given)
        finally:
            await asyncio.to_thread(opened.__exit__, None, None, None)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, required=True, help="folder for logs and the local stack")
    parser.add_argument("--graphiti-venv", type=Path, help="environment for graphiti-core, made on demand")
    parser.add_argument("--kafka", help="brokers that run already, host:port")
    parser.add_argument("--bolt", help="address of a Neo4j that runs already")
    parser.add_argument("--groups", type=int, default=50)
    parser.add_argument("--messages", type=int, default=20, help="of each group")
    parser.add_argument("--latency", type=float, default=1.0, help="seconds of a chat answer")
    asyncio.run(measured(parser.parse_args(), uuid.uuid4().hex[:8]))
