"""An installation on the ground: gateway, model, workers, the log of what was published, and the look at all of it."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from aiokafka.errors import KafkaError

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.observer import SilentObserver
from streams.broker import admin_client
from streams.gateway.app import GatewaySettings, create_gateway
from streams.producer import Producer
from streams.topic_setup import ensure_topics
from streams.topics import ALL_TOPICS, CHANGES, DEAD, EPISODES, STATUS
from tests.faults.checker import Seen
from tests.faults.ground import Ground
from tests.faults.load import Sent
from tests.faults.worker import run
from tests.integration.pipeline.running import DIMENSION, PARTITIONS, Running
from tests.integration.pipeline.waiting import until
from tests.integration.pipeline.workers import WorkerProcess, worker_process
from tests.model_server import ModelServer

STATES = "MATCH (p:Episodic) WHERE p.group_id IN $groups RETURN p.group_id + ' ' + p.uuid AS id, p.fs_state AS state"
FINAL = {"committed", "skipped", "dead"}
SAFE = {"broker_session_timeout": 3.0, "broker_heartbeat_interval": 0.75}
"""A killed worker is taken out of its group after three seconds, and not after the fifteen of production."""
DONE_WITHIN = 900.0


@dataclass
class Site(Running):
    """An installation whose topics and groups no other has. `published` is the log of what was acknowledged."""

    ground: Any = None
    model: Any = None
    gateway: Any = None
    settings: dict[str, Any] = field(default_factory=dict)
    safe: dict[str, Any] = field(default_factory=lambda: dict(SAFE))
    pauses: tuple[float, float] = (0.05, 2.0)
    transaction_seconds: float = 60.0
    suffers: dict[str, Any] | None = None
    published: list[Sent] = field(default_factory=list)
    refused: int = 0

    @property
    def log(self) -> Path:
        """What the workers have logged."""
        return Path(self.ground.folder) / f"{self.prefix}log"

    def groups(self, count: int) -> list[str]:
        """New group names."""
        return [f"g{n}-{uuid.uuid4().hex[:8]}" for n in range(count)]

    async def tell(self, sent: Sequence[Sent]) -> None:
        """Publishes in order, as long as it takes: through the gateway, or past it what the gateway would refuse."""
        batch: list[Sent] = []
        for one in sent:
            if one.episode is not None:
                batch.append(one)
                continue
            await self._through_gateway(batch)
            batch = []
            await self._past_gateway(one)
        await self._through_gateway(batch)

    async def _through_gateway(self, batch: list[Sent]) -> None:
        if not batch:
            return
        body = b"[" + b",".join(one.value for one in batch) + b"]"
        while (answer := await self.gateway.post("/v1/episodes", content=body)).status_code != 202:
            assert answer.status_code == 503, answer.text
            assert "retry-after" in answer.headers
            self.refused += 1
            await asyncio.sleep(0.5)
        self.published += batch

    async def _past_gateway(self, sent: Sent) -> None:
        while True:
            try:
                await self.producer.send(EPISODES.named(self.prefix), sent.key, sent.value)
            except Retryable:
                await asyncio.sleep(0.5)
            else:
                self.published.append(sent)
                return

    async def until_all_done(self, seconds: float = DONE_WITHIN) -> None:
        """Every published episode final, and nothing left that a stage has not acknowledged."""
        wanted = {f"{s.group} {s.episode}" for s in self.published if s.episode is not None}
        groups = sorted({s.group for s in self.published})

        async def all_published_is_done() -> bool:
            self.check_workers()
            rows = await self.connection.run("states", STATES, {"groups": groups})
            final = {row["id"] for row in rows if row["state"] in FINAL}
            return wanted <= final and await self.waiting() == 0

        await until(all_published_is_done, seconds)

    async def some_done(self, count: int, seconds: float = DONE_WITHIN) -> None:
        """At least so many episodes are final."""

        async def enough_is_done() -> bool:
            return await self.done() >= count

        await until(enough_is_done, seconds)

    async def done(self) -> int:
        """How many of the published episodes are final."""
        groups = sorted({s.group for s in self.published})
        rows = await self.connection.run("states", STATES, {"groups": groups})
        return sum(row["state"] in FINAL for row in rows)

    def check_workers(self) -> None:
        """No worker has ended that was not asked to."""
        ended = [w.exit_code for w in self.workers if w.exit_code is not None and not w.asked_to_stop]
        assert not ended, f"a worker has ended by itself with {ended}; see {self.log}"

    async def seen(self) -> Seen:
        """Everything, once no worker runs any more."""
        groups = sorted({s.group for s in self.published})
        lag = await self.waiting()
        dumps = [await self.dump(group) for group in groups]
        for group in groups:
            await self.rebuild_communities(group)
        return Seen(
            log=await self.records(EPISODES),
            statuses=await self.records(STATUS),
            changes=await self.records(CHANGES),
            dead=await self.records(DEAD),
            dumps=dumps,
            rebuilt=[await self.dump(group) for group in groups],
            lag=lag,
        )

    @asynccontextmanager
    async def worker(self, crash: dict[str, Any] | None = None, **more: Any) -> AsyncIterator[WorkerProcess]:
        """A worker process. `crash` is a CrashPlan's fields without the marker, `more` are settings of factstream."""
        if crash is not None:
            crash = crash | {"marker": str(Path(self.ground.folder) / uuid.uuid4().hex)}
        told = {
            "settings": self.worker_settings() | more,
            "safe": self.safe,
            "pauses": self.pauses,
            "transaction_seconds": self.transaction_seconds,
            "suffers": self.suffers,
            "log": str(self.log),
            "crash": crash,
        }
        async with worker_process(told, run) as process:
            self.workers.append(process)
            yield process
            self.workers.remove(process)

    def worker_settings(self) -> dict[str, Any]:
        """Of factstream, for a worker of this installation."""
        return {
            "kafka_bootstrap": self.bootstrap,
            "neo4j_uri": self.bolt,
            "topic_prefix": self.prefix,
            "consumer_group": self.consumer_group,
            "partitions": PARTITIONS,
            "extractor": "model",
            "model_url": self.model.url,
            "model": "toy",
            "embedder": "openai",
            "embedding_dimension": DIMENSION,
            "grace": 5.0,
        } | self.settings


@asynccontextmanager
async def site(
    ground: Ground, *, bolt: str | None = None, replication: int = 1, **settings: Any
) -> AsyncIterator[Site]:
    """An installation with its topics; `bolt` is another way to the graph for its workers, `settings` are theirs."""
    prefix = f"f{uuid.uuid4().hex[:10]}."
    async with AsyncExitStack() as stack:
        await ensure_topics(ground.kafka, prefix, partitions=PARTITIONS, replication=replication)
        stack.push_async_callback(_forget, ground.kafka, prefix)
        producer = Producer(ground.kafka, request_timeout_ms=5_000)
        stack.push_async_callback(producer.stop)
        connection = Neo4jConnection(ground.bolt, None, None, "neo4j", SilentObserver())
        await connection.open()
        stack.push_async_callback(connection.close)
        model = await stack.enter_async_context(ModelServer(dimension=DIMENSION))

        async def ready() -> None: ...

        app = create_gateway(GatewaySettings(topic_prefix=prefix, confirm_within=6.0), producer, ready=ready)
        gateway = await stack.enter_async_context(
            httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://gateway", timeout=30.0)
        )
        made = Site(ground.kafka, ground.bolt, prefix, producer, connection)
        made.ground, made.model, made.gateway, made.settings = ground, model, gateway, settings
        if bolt is not None:
            made.settings = {"neo4j_uri": bolt, **settings}
        yield made


async def _forget(bootstrap: str, prefix: str) -> None:
    """Deletes the topics: a broker that was killed looks through all that it has before it answers."""
    with suppress(KafkaError, OSError):
        async with admin_client(bootstrap) as admin:
            await admin.delete_topics([topic.named(prefix) for topic in ALL_TOPICS])
