"""Gateway, worker and search service as processes of their own, over servers that run or that are started."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

from factstream.stack import LocalStack
from factstream.stack.ports import find_free

READY_SECONDS = 180.0
SERVICES = ("gateway", "worker", "serve")


@dataclass(frozen=True)
class Target:
    """Where everything answers."""

    bootstrap: str
    bolt: str
    prefix: str
    urls: dict[str, str]
    pids: dict[str, int]


@contextmanager
def services(
    root: Path,
    embedder: str,
    run: str,
    kafka: str | None,
    bolt: str | None,
    more: Mapping[str, str] | None = None,
) -> Iterator[Target]:
    """The services, ready; logs are in `root`. Without both addresses a local stack is started in `root`.

    `more` are environment variables of the services that differ from the bench's own.
    """
    root.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        if not (kafka and bolt):
            local = stack.enter_context(
                LocalStack(root / "stack", kafka_port=0, bolt_port=0, detached=False, report=print)
            )
            status = local.status()
            kafka, bolt = status.kafka_bootstrap, status.bolt_uri
        ports = {name: find_free() for name in SERVICES}
        environment = {
            **os.environ,
            "FACTSTREAM_KAFKA_BOOTSTRAP": str(kafka),
            "FACTSTREAM_NEO4J_URI": str(bolt),
            "FACTSTREAM_TOPIC_PREFIX": f"bench-{run}.",
            "FACTSTREAM_CONSUMER_GROUP": f"bench-{run}",
            "FACTSTREAM_EMBEDDER": embedder,
            "FACTSTREAM_LOG_LEVEL": "warning",
            **(more or {}),
        }
        urls: dict[str, str] = {}
        pids: dict[str, int] = {}
        for name in SERVICES:
            log = stack.enter_context((root / f"{name}.log").open("ab"))
            process = subprocess.Popen(
                [sys.executable, "-m", "factstream", name, "--port", str(ports[name])],
                env=environment,
                stdout=log,
                stderr=log,
            )
            stack.callback(_end, process)
            pids[name] = process.pid
            urls[name] = f"http://127.0.0.1:{ports[name]}"
        for url in urls.values():
            _wait(url)
        yield Target(str(kafka), str(bolt), f"bench-{run}.", urls, pids)


def _wait(url: str) -> None:
    deadline = time.monotonic() + READY_SECONDS
    while True:
        try:
            if httpx.get(f"{url}/readyz", timeout=5, trust_env=False).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        if time.monotonic() > deadline:
            raise SystemExit(f"{url} is not ready after {READY_SECONDS:.0f} s: see the logs in --root")
        time.sleep(0.2)


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
