"""What one hot group costs the others in the lanes alone: real Kafka, work that only waits, all on one partition.

    python -m bench.fairness_lanes --kafka HOST:PORT

For small groups without the hot one, behind it with a share, and behind it without (a share that nobody exceeds):
seconds from the start of the worker until each of their events is done, as JSON.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time
import uuid
from statistics import quantiles
from typing import Any

from streams.delivery_settings import DeliverySettings
from streams.event import Event
from streams.lane_app import LaneApp
from streams.lane_policy import LanePolicy
from streams.lane_work import LaneWork
from streams.producer import Producer
from streams.topic_setup import ensure_topics
from streams.topics import EPISODES

HOT = b"hot"
NEVER = 10_000_000


class Waits(LaneWork[None, None]):
    """Takes a fixed time for each event, and notes when one of a small group is done."""

    def __init__(self, seconds: float, small: int) -> None:
        self.seconds = seconds
        self.left = small
        self.done: list[float] = []
        self.hot = 0
        self.all_done = asyncio.Event()

    async def handle(self, event: Event, admitted: None, prepared: None) -> None:
        await asyncio.sleep(self.seconds)
        if event.lane == HOT:
            self.hot += 1
            return
        self.done.append(time.monotonic())
        self.left -= 1
        if not self.left:
            self.all_done.set()


async def measure(arguments: argparse.Namespace, hot: int, share: int) -> dict[str, Any]:
    """One installation of its own: published, then worked on until the small groups are done or the limit is over."""
    prefix = f"bench-{uuid.uuid4().hex[:8]}."
    await ensure_topics(arguments.kafka, prefix, partitions=1)
    small = arguments.groups * arguments.each
    records = [(HOT, b"{}")] * hot + [(b"small%d" % (n % arguments.groups), b"{}") for n in range(small)]
    producer = Producer(arguments.kafka)
    for start in range(0, len(records), 1000):
        await producer.send_all(EPISODES.named(prefix), records[start : start + 1000])
    await producer.stop()
    work, app = Waits(arguments.work, small), LaneApp(DeliverySettings(arguments.kafka, prefix, prefix))
    app.stage("bench", EPISODES, work, LanePolicy(share=share))
    stop = asyncio.Event()
    serving = asyncio.create_task(app.serve(stop))
    while app.states[0].waiting == 0:
        await asyncio.sleep(0.01)
    started = time.monotonic()
    try:
        async with asyncio.timeout(arguments.limit):
            await work.all_done.wait()
    except TimeoutError:
        pass
    stop.set()
    await serving
    took = sorted(moment - started for moment in work.done)
    told: dict[str, Any] = {"small_done": len(took), "of": small, "hot_done_meanwhile": work.hot}
    if len(took) > 1:
        cuts = quantiles(took, n=20, method="inclusive")
        told |= {"p50_s": round(cuts[9], 2), "p95_s": round(cuts[18], 2), "last_s": round(took[-1], 2)}
    return told


async def run(arguments: argparse.Namespace) -> None:
    """All three."""
    told = {"alone": await measure(arguments, 0, 16)}
    told["behind_hot"] = await measure(arguments, arguments.hot, 16)
    told["behind_hot_without_share"] = await measure(arguments, arguments.hot, NEVER)
    print(json.dumps(told, indent=2))


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kafka", required=True, help="brokers that run")
    parser.add_argument("--hot", type=int, default=20_000, help="events of the hot group")
    parser.add_argument("--groups", type=int, default=50, help="small groups")
    parser.add_argument("--each", type=int, default=20, help="events of each of them")
    parser.add_argument("--work", type=float, default=0.1, help="seconds that an event takes")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds after which a run is cut off")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
