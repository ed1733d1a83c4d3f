"""The servers that scenarios break: a stack of the run's own."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from factstream.stack import LocalStack
from factstream.stack.memory import StackMemory

START_WITHIN = 600.0


@dataclass(frozen=True)
class Ground:
    """Real Kafka and Neo4j that may be stopped, killed and frozen."""

    stack: LocalStack
    kafka: str
    bolt: str
    folder: Path

    @property
    def down(self) -> list[str]:
        """The servers that do not run."""
        return [server.name for server in self.stack.status().servers if not server.running]

    async def stop(self, server: str) -> None:
        """A clean stop."""
        await asyncio.to_thread(self.stack.stop, server)

    async def kill(self, server: str) -> None:
        """SIGKILL."""
        await asyncio.to_thread(self.stack.kill, server)

    async def start(self, server: str) -> None:
        """Returns once it answers; one that was killed first looks through all that it has."""
        await asyncio.to_thread(self.stack.start, server, wait=False)
        await asyncio.to_thread(self.stack.wait_ready, server, START_WITHIN)


@contextmanager
def ground(nodes: int = 1) -> Iterator[Ground]:
    """A stack on free ports, stopped and deleted at the end.

    FAULTS_ROOT names a folder whose stack is used and left running, for those who work on a scenario.
    """
    kept = os.environ.get("FAULTS_ROOT")
    with tempfile.TemporaryDirectory(prefix="factstream-faults-") as folder:
        root = Path(kept) / f"nodes-{nodes}" if kept else Path(folder)
        stack = LocalStack(
            root,
            kafka_port=None if (root / "stack.json").exists() else 0,
            bolt_port=None if (root / "stack.json").exists() else 0,
            kafka_nodes=nodes,
            memory=StackMemory(neo4j_heap=768),
            detached=bool(kept),
        )
        with stack:
            status = stack.status()
            if status.kafka_bootstrap is None or status.bolt_uri is None:
                raise AssertionError("a started stack has addresses")
            yield Ground(stack, status.kafka_bootstrap, status.bolt_uri, Path(folder))
