"""An installation of its own with worker processes over it, and all that came out of them."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiokafka import AIOKafkaConsumer, TopicPartition

from factstream.lag import STAGE_TOPICS
from pipeline.clock import system_clock
from pipeline.embedding.hashing import HashingEmbedder
from pipeline.graph.digest import GroupDump
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.dump import Neo4jDump
from pipeline.graph.neo4j.store import Neo4jGraphStore
from pipeline.observer import SilentObserver
from pipeline.stages.update_communities import UpdateCommunitiesStage
from streams.broker import admin_client
from streams.notes import lowest
from streams.producer import Producer
from streams.topic_setup import ensure_topics
from streams.topics import EPISODES, Topic
from tests.integration.pipeline.waiting import WITHIN, until
from tests.integration.pipeline.workers import WorkerProcess, worker_process

PARTITIONS = 2
DIMENSION = 384
"""Of the vectors of all integration tests, since one database has one."""
FINAL = {"committed", "skipped", "dead"}
STATES = "MATCH (p:Episodic) WHERE p.group_id IN $groups RETURN p.fs_state AS state"


@dataclass
class Running:
    """Topics under a prefix that no one else has, an open graph, a producer."""

    bootstrap: str
    bolt: str
    prefix: str
    producer: Producer
    connection: Neo4jConnection
    workers: list[WorkerProcess] = field(default_factory=list)

    @property
    def consumer_group(self) -> str:
        return f"{self.prefix}workers"

    async def publish(self, events: Sequence[dict[str, Any]]) -> None:
        """As a producer of the contract does: keyed by group, in order."""
        for event in events:
            key = str(event["group_id"]).encode()
            await self.producer.send(EPISODES.named(self.prefix), key, orjson.dumps(event))

    async def dump(self, group_id: str) -> GroupDump:
        return await Neo4jDump(self.connection).dump(group_id)

    async def until_done(self, groups: Sequence[str], episodes: int) -> None:
        """All `episodes` of each group final, and nothing left that a stage has not acknowledged."""

        async def done() -> bool:
            ended = [w.exit_code for w in self.workers if w.exit_code is not None and not w.asked_to_stop]
            assert not ended, "a worker has ended by itself"
            rows = await self.connection.run("states", STATES, {"groups": list(groups)})
            states = [row["state"] for row in rows]
            return (
                len(states) >= episodes * len(groups)
                and FINAL.issuperset(states)
                and await self.waiting() == 0
            )

        await until(done)

    async def waiting(self) -> int:
        """Records that no stage has acknowledged yet."""
        async with admin_client(self.bootstrap) as admin:
            committed = await admin.list_consumer_group_offsets(self.consumer_group)
        consumer = AIOKafkaConsumer(bootstrap_servers=self.bootstrap, enable_auto_commit=False)
        await consumer.start()
        try:
            topics = [topic.named(self.prefix) for topic in STAGE_TOPICS]
            # After the positions: what a stage has sent before it acknowledged is then in the ends.
            ends = await consumer.end_offsets(
                [TopicPartition(topic, n) for topic in topics for n in range(PARTITIONS)]
            )
            return sum(
                end - (lowest(committed[tp].offset, committed[tp].metadata) if tp in committed else 0)
                for tp, end in ends.items()
            )
        finally:
            await consumer.stop()

    async def records(self, topic: Topic) -> list[Any]:
        """All records of a topic so far, in order inside a partition."""
        consumer = AIOKafkaConsumer(
            bootstrap_servers=self.bootstrap, enable_auto_commit=False, auto_offset_reset="earliest"
        )
        await consumer.start()
        try:
            parts = [TopicPartition(topic.named(self.prefix), n) for n in range(PARTITIONS)]
            consumer.assign(parts)
            ends = await consumer.end_offsets(parts)
            found: list[Any] = []
            async with asyncio.timeout(WITHIN):
                while [tp for tp in parts if await consumer.position(tp) < ends[tp]]:
                    for batch in (await consumer.getmany(timeout_ms=200)).values():
                        found.extend(batch)
            return found
        finally:
            await consumer.stop()

    async def rebuild_communities(self, group_id: str) -> None:
        """Step by step they depend on what was committed when; a rebuild depends on the graph only."""
        store = Neo4jGraphStore(self.bolt, dimension=DIMENSION)
        await store.open()
        try:
            embedder = HashingEmbedder(DIMENSION)
            await UpdateCommunitiesStage(store, embedder, system_clock, SilentObserver()).rebuild(group_id)
        finally:
            await store.close()

    @asynccontextmanager
    async def worker(self, crash: dict[str, Any] | None = None) -> AsyncIterator[WorkerProcess]:
        """A worker process; `crash` is a CrashPlan's fields."""
        told = {
            "bootstrap": self.bootstrap,
            "bolt": self.bolt,
            "prefix": self.prefix,
            "consumer_group": self.consumer_group,
            "dimension": DIMENSION,
            "crash": crash,
        }
        async with worker_process(told) as process:
            self.workers.append(process)
            yield process
            self.workers.remove(process)


@asynccontextmanager
async def running(bootstrap: str, bolt: str) -> AsyncIterator[Running]:
    """An installation with topics and a graph whose schema is there."""
    prefix = f"t{uuid.uuid4().hex[:10]}."
    await ensure_topics(bootstrap, prefix, partitions=PARTITIONS)
    store = Neo4jGraphStore(bolt, dimension=DIMENSION)
    await store.open()
    await store.close()
    producer = Producer(bootstrap)
    connection = Neo4jConnection(bolt, None, None, "neo4j", SilentObserver())
    await connection.open()
    try:
        yield Running(bootstrap, bolt, prefix, producer, connection)
    finally:
        await producer.stop()
        await connection.close()
