"""What Kafka and Neo4j have in common here."""

from __future__ import annotations

import signal
import time
from abc import ABC, abstractmethod
from pathlib import Path

import psutil

from factstream.stack import ports
from factstream.stack.errors import StackError
from factstream.stack.files import tail
from factstream.stack.process import ServerProcess
from factstream.stack.status import ServerStatus

POLL_SECONDS = 0.1
START_SECONDS = 180.0
STOP_SECONDS = 40.0


class Server(ABC):
    """One server of the stack: its files, its command line, and how to ask it whether it is ready."""

    def __init__(self, name: str, root: Path, port: int) -> None:
        self.name = name
        self.port = port
        self.root = root
        self.output = root / "logs" / f"{name}.out"
        self.marker = f"-Dfactstream.server={root}#{name}"
        self.process = ServerProcess(root / "run" / f"{name}.json", self.marker)

    @property
    @abstractmethod
    def log(self) -> Path:
        """The server's own log, which it rotates itself."""

    @property
    @abstractmethod
    def ports(self) -> tuple[int, ...]:
        """Every port it listens on."""

    @abstractmethod
    def prepare(self, java: Path, jars: Path) -> None:
        """Write the configuration and whatever must exist before the first start."""

    @abstractmethod
    def command(self, java: Path, jars: Path) -> list[str]:
        """The command line; it contains `self.marker`."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether a client gets a real answer now. Returns False instead of raising while it does not."""

    def spawn(self, java: Path, jars: Path) -> bool:
        """Start the process unless it runs; a paused one goes on. Returns whether a process was started.

        Raises `StackError` when somebody else holds one of its ports.
        """
        running = self.process.adopt()
        if running is not None:
            self.process.signal(signal.SIGCONT)
            return False
        for port in self.ports:
            if not ports.is_free(port):
                raise StackError(
                    f"{self.name} cannot start: port {port} on {ports.HOST} is held by {ports.holder(port)}.\n"
                    "Stop that process, or choose another port for the stack."
                )
        self.prepare(java, jars)
        self.process.spawn(self.command(java, jars), self.output)
        return True

    def wait_ready(self, timeout: float = START_SECONDS) -> None:
        """Wait until it answers; raises `StackError` with the end of its log when it ends or hangs."""
        deadline = time.monotonic() + timeout
        while not self.answers():
            if self.process.find() is None:
                code = self.process.exit_code
                raise StackError(f"{self.name} ended while starting (exit code {code}).\n{self.excerpt()}")
            if time.monotonic() > deadline:
                raise StackError(f"{self.name} did not answer within {timeout:.0f} s.\n{self.excerpt()}")
            time.sleep(POLL_SECONDS)

    def finish_stop(self, timeout: float = STOP_SECONDS) -> None:
        """Wait for a requested stop and end the process by force when it takes longer than `timeout`."""
        if not self.process.wait_gone(timeout):
            self.kill()

    def kill(self) -> None:
        """SIGKILL, and wait until the process is gone."""
        self.process.signal(signal.SIGKILL)
        if not self.process.wait_gone(STOP_SECONDS):
            raise StackError(f"{self.name} (pid {self.process.pid}) does not end, not even by SIGKILL")

    def status(self) -> ServerStatus:
        """Look at the process and ask it."""
        found = self.process.find()
        rss = None
        if found is not None:
            try:
                rss = round(found.memory_info().rss / 2**20)
            except psutil.NoSuchProcess:
                found = None
        return ServerStatus(
            name=self.name,
            running=found is not None,
            ready=found is not None and self.answers(),
            pid=None if found is None else found.pid,
            port=self.port,
            rss_mib=rss,
            log=self.log,
        )

    def lines(self, count: int) -> list[str]:
        """The last `count` lines that it has written: what it printed itself, then its log."""
        return [*tail(self.output, count), *tail(self.log, count)][-count:]

    def excerpt(self) -> str:
        """The end of the log and where the whole of it is, for an error message."""
        return "\n".join([*(f"  {line}" for line in self.lines(20)), f"Log: {self.log} and {self.output}"])
