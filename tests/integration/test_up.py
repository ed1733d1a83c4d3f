"""`factstream up` as a user runs it: one command, ready when it says so, all of it gone when told to stop."""

from __future__ import annotations

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import psutil
import pytest

READY_SECONDS = 300.0
SETTLE_SECONDS = 120.0


class Up:
    """A running `factstream up` with the lines that it prints."""

    def __init__(self, root: Path) -> None:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("FACTSTREAM_TEST")}
        command = [sys.executable, "-m", "factstream", "up", "--root", str(root)]
        command += [f"--{name}-port=0" for name in ("gateway", "search", "kafka", "bolt")]
        self.process = subprocess.Popen(
            command,
            env={**environment, "FACTSTREAM_WORKER_PORT": "0", "FACTSTREAM_EMBEDDER": "hashing"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self.lines: queue.Queue[str | None] = queue.Queue()
        self.seen: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        for line in self.process.stdout or ():
            self.lines.put(line)
        self.lines.put(None)

    def ready(self) -> tuple[str, str]:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            line = self.lines.get(timeout=max(0.1, deadline - time.monotonic()))
            assert line is not None, "".join(self.seen)
            self.seen.append(line)
            if found := re.fullmatch(r"ready gateway=(\S+) search=(\S+)\n", line):
                return found[1], found[2]


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = Up(tmp_path / "root")
    try:
        yield running
    finally:
        if running.process.poll() is None:
            running.process.send_signal(signal.SIGTERM)
            running.process.wait(120)


def test_up_serves_survives_a_killed_worker_and_stops_everything(up: Up) -> None:
    gateway, search = up.ready()
    me = psutil.Process(up.process.pid)
    children = me.children(recursive=True)
    assert len(children) >= 5, "Kafka, Neo4j, worker, gateway and search service"

    _publish(gateway, "m1", "I live in Lima.", "2023-03-01T09:00:00Z")
    _settled(search, "m1")
    worker = next(c for c in children if c.cmdline()[-1] == "worker")
    worker.send_signal(signal.SIGKILL)
    _publish(gateway, "m2", "I live in Quito now.", "2024-03-01T09:00:00Z")
    _settled(search, "m2")
    body = {"query": "Where does Ana live?", "group_ids": ["g"]}
    facts = httpx.post(f"{search}/v1/search", json=body, timeout=30).json()["facts"]
    assert [f["target"]["name"] for f in facts] == ["Quito"]

    everything = me.children(recursive=True)
    up.process.send_signal(signal.SIGTERM)
    assert up.process.wait(120) == 0
    _, alive = psutil.wait_procs(everything, timeout=10)
    assert alive == []


def test_a_wrong_setting_ends_it_at_once_and_is_named(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "factstream", "up", "--root", str(tmp_path)],
        env={**os.environ, "FACTSTREAM_PARTITIONS": "none"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "FACTSTREAM_PARTITIONS" in done.stderr


def _publish(gateway: str, episode: str, text: str, at: str) -> None:
    event = {"id": episode, "group_id": "g", "source": "message", "content": text, "reference_time": at}
    answer = httpx.post(f"{gateway}/v1/episodes", json={**event, "speaker": {"name": "Ana"}}, timeout=60)
    assert answer.status_code == 202, answer.text


def _settled(search: str, episode: str) -> None:
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        answer = httpx.get(f"{search}/v1/episodes/{episode}", params={"group_id": "g"}, timeout=30)
        if answer.status_code == 200 and answer.json()["state"] == "committed":
            return
        assert time.monotonic() < deadline, answer.text
        time.sleep(0.2)
