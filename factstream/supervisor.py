"""Runs the whole of factstream on one machine: the local stack, and worker, gateway and search service as children."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import httpx

from factstream.settings import Settings
from factstream.stack.errors import StackError
from factstream.stack.local_stack import LocalStack
from factstream.stack.ports import find_free
from pipeline.errors import FactstreamError
from streams.health.reason import STARTING

READY_SECONDS = 180.0
STOP_SECONDS = 30.0
MAX_RESTARTS = 5
"""Restarts of one service within `RESTART_WINDOW` before everything is stopped: it will not mend itself."""
RESTART_WINDOW = 60.0


class ServiceFailed(FactstreamError):
    """A service does not come up or keeps ending; the message has its last log lines."""


@dataclass(frozen=True)
class Urls:
    """Where the services answer."""

    gateway: str
    search: str
    worker: str


class Supervisor:
    """Starts everything, keeps it running, stops what it started.

    Args:
        settings: ports of 0 are replaced by free ones; the addresses of Kafka and Neo4j by those of the stack.
        report: takes one line of progress at a time.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        kafka_port: int | None = None,
        bolt_port: int | None = None,
        report: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._report = report
        self._root = settings.stack_root.expanduser().resolve()
        self._stack = LocalStack(
            self._root, kafka_port=kafka_port, bolt_port=bolt_port, detached=False, report=report
        )
        self._stop = threading.Event()
        self._children: dict[str, subprocess.Popen[bytes]] = {}
        self._starts: dict[str, list[float]] = {}
        self._environment: dict[str, str] = {}
        self.urls = Urls(*(_url(settings.host, port) for port in self._ports()))

    def run(self, on_ready: Callable[[Urls], None], until: Callable[[Urls], None] | None = None) -> int:
        """Until SIGTERM or Ctrl-C, or until `until` returns; the exit code. Raises ServiceFailed or StackError."""
        previous = {n: signal.signal(n, self._on_signal) for n in (signal.SIGTERM, signal.SIGINT)}
        try:
            with ExitStack() as stack:
                stack.enter_context(self._stack)
                if self._stop.is_set():
                    return 0
                stack.callback(self._stop_children)
                self._start_children()
                if not self._wait_until_ready():
                    return 0
                on_ready(self.urls)
                if until is not None:
                    until(self.urls)
                    return 0
                while not self._stop.wait(0.5):
                    self._tend()
                self._report("stopping")
                return 0
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def keep(self) -> None:
        """Tends the children until a signal comes; for callers of `run(until=…)` that want to stay up."""
        while not self._stop.wait(0.5):
            self._tend()

    def stop(self) -> None:
        """Ends `run` or `keep` from another thread."""
        self._stop.set()

    def pid(self, service: str) -> int:
        """The process id of "worker", "gateway" or "serve"; for tests that break things."""
        return self._children[service].pid

    def log(self, service: str) -> Path:
        """The log file of a service."""
        return self._root / "logs" / f"{service}.log"

    def _ports(self) -> tuple[int, int, int]:
        chosen = self._settings
        wanted = (chosen.gateway_port, chosen.search_port, chosen.worker_port)
        gateway, search, worker = (port or find_free() for port in wanted)
        return gateway, search, worker

    def _start_children(self) -> None:
        status = self._stack.status()
        self._environment = {
            **os.environ,
            "FACTSTREAM_KAFKA_BOOTSTRAP": status.kafka_bootstrap or "",
            "FACTSTREAM_NEO4J_URI": status.bolt_uri or "",
            "FACTSTREAM_GATEWAY_PORT": self.urls.gateway.rsplit(":", 1)[1],
            "FACTSTREAM_SEARCH_PORT": self.urls.search.rsplit(":", 1)[1],
            "FACTSTREAM_WORKER_PORT": self.urls.worker.rsplit(":", 1)[1],
        }
        for service in ("worker", "gateway", "serve"):
            self._start(service)

    def _start(self, service: str) -> None:
        log = self.log(service)
        log.parent.mkdir(parents=True, exist_ok=True)
        self._report(f"starting {service}")
        with log.open("ab") as out:
            # In a session of its own, so that Ctrl-C reaches this process first and the order of stopping is ours.
            self._children[service] = subprocess.Popen(
                [sys.executable, "-m", "factstream", service],
                env=self._environment,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )
        self._starts.setdefault(service, []).append(time.monotonic())

    def _tend(self) -> None:
        for service, child in list(self._children.items()):
            code = child.poll()
            if code is None or self._stop.is_set():
                continue
            recent = [t for t in self._starts[service] if time.monotonic() - t < RESTART_WINDOW]
            if len(recent) > MAX_RESTARTS or code == 2:
                raise ServiceFailed(f"{service} ended with code {code}:\n{self._tail(service)}")
            self._report(f"{service} ended with code {code}; starting it again")
            self._start(service)

    def _wait_until_ready(self) -> bool:
        pages = {"gateway": self.urls.gateway, "serve": self.urls.search, "worker": self.urls.worker}
        deadline = time.monotonic() + READY_SECONDS
        waiting = dict(pages)
        while waiting and not self._stop.is_set():
            for service, url in list(waiting.items()):
                if _answers(f"{url}/readyz"):
                    del waiting[service]
            self._tend()
            if time.monotonic() > deadline:
                slow = next(iter(waiting))
                raise ServiceFailed(f"{slow} is not ready after {READY_SECONDS:.0f} s:\n{self._tail(slow)}")
            self._stop.wait(0.2)
        return not waiting

    def _stop_children(self) -> None:
        # The doors close first, then the worker finishes what it holds.
        for service in ("gateway", "serve", "worker"):
            child = self._children.get(service)
            if child is not None and child.poll() is None:
                child.terminate()
        for service, child in self._children.items():
            try:
                child.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._report(f"{service} did not stop in {STOP_SECONDS:.0f} s and is ended")
                child.kill()
                child.wait()

    def _tail(self, service: str) -> str:
        lines = self.log(service).read_text("utf-8", "replace").splitlines()[-15:]
        return "\n".join([*lines, f"(all of it: {self.log(service)})"])

    def _on_signal(self, number: int, _: FrameType | None) -> None:
        if self._stop.is_set():
            raise StackError("told to stop twice; what still runs is ended by the operating system")
        self._stop.set()


def _answers(url: str) -> bool:
    """Whether a service has started. A worker that has much to catch up with has, though it is not ready yet."""
    try:
        answer = httpx.get(url, timeout=6, trust_env=False)
        if answer.status_code == 200:
            return True
        codes = {reason["code"] for reason in answer.json()["reasons"]}
    except (httpx.HTTPError, ValueError, KeyError, TypeError):
        return False
    return bool(codes) and not codes & STARTING


def _url(host: str, port: int) -> str:
    return f"http://{host}:{port}"
