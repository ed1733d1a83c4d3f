"""One Kafka broker that is its own controller (KRaft)."""

from __future__ import annotations

import asyncio
import base64
import logging
import shutil
import subprocess
import uuid
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from aiokafka.admin import AIOKafkaAdminClient
from aiokafka.errors import KafkaError

from factstream.stack import ports
from factstream.stack.environment import java_environment
from factstream.stack.errors import StackError
from factstream.stack.files import properties, write_atomic
from factstream.stack.server import Server

LOGGING = Path(__file__).parent / "log4j2.properties"
ASK_MILLISECONDS = 3000


class KafkaServer(Server):
    """Node `index` (from 0) of a cluster whose nodes listen on `broker_ports` and `controller_ports`.

    Replication follows the number of nodes: with 3, every topic has 3 replicas of which 2 must answer.
    """

    def __init__(
        self, root: Path, index: int, broker_ports: Sequence[int], controller_ports: Sequence[int], heap: int
    ) -> None:
        super().__init__(f"kafka-{index + 1}", root, broker_ports[index])
        self._index = index
        self._brokers = tuple(broker_ports)
        self._controllers = tuple(controller_ports)
        self._heap = heap
        self._home = root / "kafka" / f"node-{index + 1}"
        self._config = self._home / "server.properties"

    @property
    def log(self) -> Path:
        return self.root / "logs" / f"{self.name}.log"

    @property
    def ports(self) -> tuple[int, ...]:
        return (self.port, self._controllers[self._index])

    def properties(self) -> dict[str, str]:
        """The broker's configuration; topics are created by factstream, never by a typing error."""
        nodes = len(self._brokers)
        replicas = min(3, nodes)
        in_sync = max(1, replicas - 1)
        voters = ",".join(f"{n + 1}@{ports.HOST}:{port}" for n, port in enumerate(self._controllers))
        own = f"PLAINTEXT://{ports.HOST}:{self.port}"
        settings: dict[str, str | int | Path] = {
            "process.roles": "broker,controller",
            "node.id": self._index + 1,
            "controller.quorum.voters": voters,
            "listeners": f"{own},CONTROLLER://{ports.HOST}:{self._controllers[self._index]}",
            "advertised.listeners": own,
            "controller.listener.names": "CONTROLLER",
            "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
            "inter.broker.listener.name": "PLAINTEXT",
            "log.dirs": self._home / "data",
            "auto.create.topics.enable": "false",
            "unclean.leader.election.enable": "false",
            "num.partitions": 4,
            "default.replication.factor": replicas,
            "min.insync.replicas": in_sync,
            "offsets.topic.replication.factor": replicas,
            "offsets.topic.num.partitions": 4,
            "transaction.state.log.replication.factor": replicas,
            "transaction.state.log.min.isr": in_sync,
            "transaction.state.log.num.partitions": 4,
            "share.coordinator.state.topic.replication.factor": replicas,
            "share.coordinator.state.topic.min.isr": in_sync,
            "group.initial.rebalance.delay.ms": 0,
            # A worker may ask to be given up sooner than the 6 s that are the least by default.
            "group.min.session.timeout.ms": 1000,
            "num.network.threads": 2,
            "num.io.threads": 4,
            # 128 MiB by default, half of this heap.
            "log.cleaner.dedupe.buffer.size": 16 * 2**20,
        }
        return {key: str(value) for key, value in settings.items()}

    def prepare(self, java: Path, jars: Path) -> None:
        write_atomic(self._config, properties(self.properties()))
        data = self._home / "data"
        if (data / "meta.properties").exists():
            return
        # A broker never starts on a folder without this file, so what lies here is a format cut short.
        shutil.rmtree(data, ignore_errors=True)
        tool = self._java(java, jars, "WARN", "kafka.tools.StorageTool")
        done = subprocess.run(
            [*tool, "format", f"--cluster-id={self._cluster_id()}", "-c", str(self._config)],
            capture_output=True,
            env=java_environment(),
            text=True,
            check=False,
        )
        if done.returncode != 0:
            raise StackError(f"{self.name}: could not format {data}.\n{done.stdout}{done.stderr}")

    def command(self, java: Path, jars: Path) -> list[str]:
        return [*self._java(java, jars, "INFO", "kafka.Kafka"), str(self._config)]

    def answers(self) -> bool:
        """Whether a metadata request to this node's own port is answered with this node among the brokers."""
        if not ports.accepts(self.port):
            return False
        # The caller may be inside a running event loop, so the question gets a thread and a loop of its own.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(asyncio.run, self._is_member()).result()

    async def _is_member(self) -> bool:
        connections = logging.getLogger("aiokafka")
        admin = AIOKafkaAdminClient(
            bootstrap_servers=f"{ports.HOST}:{self.port}", request_timeout_ms=ASK_MILLISECONDS
        )
        level = connections.level
        connections.setLevel(logging.CRITICAL)
        try:
            async with asyncio.timeout(2 * ASK_MILLISECONDS / 1000):
                await admin.start()
                cluster = await admin.describe_cluster()
            return any(broker["node_id"] == self._index + 1 for broker in cluster["brokers"])
        except (KafkaError, OSError, TimeoutError):
            return False
        finally:
            await admin.close()
            connections.setLevel(level)

    def _java(self, java: Path, jars: Path, level: str, main: str) -> list[str]:
        return [
            str(java),
            self.marker if main == "kafka.Kafka" else "-Dfactstream.tool=format",
            f"-Xms{self._heap}m",
            f"-Xmx{self._heap}m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.awt.headless=true",
            f"-Dlog4j2.configurationFile={LOGGING.as_uri()}",
            f"-Dfactstream.log={self.log}",
            f"-Dfactstream.level={level}",
            "-cp",
            f"{jars}/*",
            main,
        ]

    def _cluster_id(self) -> str:
        """The id that all nodes are formatted with, made by the first."""
        file = self.root / "kafka" / "cluster.id"
        if not file.exists():
            write_atomic(file, base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("="))
        return file.read_text(encoding="utf-8")
