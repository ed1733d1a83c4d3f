"""Finding a server again, and never taking somebody else's process for it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from factstream.stack.process import PidRecord, ServerProcess

FOREVER = "import signal; signal.pause()"


@pytest.fixture
def marker(tmp_path: Path) -> str:
    return f"-Dfactstream.server={tmp_path}#probe"


@pytest.fixture
def server(tmp_path: Path, marker: str) -> Iterator[ServerProcess]:
    process = ServerProcess(tmp_path / "run" / "probe.json", marker)
    yield process
    process.adopt()
    process.signal(signal.SIGKILL)
    process.wait_gone(10)


def command(marker: str, code: str = FOREVER) -> list[str]:
    return [sys.executable, "-c", code, marker]


def test_a_started_process_is_found_by_another_object(
    tmp_path: Path, server: ServerProcess, marker: str
) -> None:
    server.spawn(command(marker), tmp_path / "out")
    other = ServerProcess(tmp_path / "run" / "probe.json", marker)
    assert other.pid is not None
    assert other.pid == server.pid
    assert os.getsid(other.pid) == other.pid


def test_nothing_is_found_before_the_first_start(server: ServerProcess) -> None:
    assert server.pid is None
    assert server.signal(signal.SIGTERM) is False


@pytest.mark.parametrize("text", ["", "{", '{"pid": "x"}', "[1]"])
def test_a_damaged_pid_file_is_no_server(tmp_path: Path, server: ServerProcess, text: str) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "probe.json").write_text(text)
    assert server.pid is None


@pytest.mark.parametrize("wrong", ["created", "marker", "command line"])
def test_a_reused_pid_is_never_taken_nor_killed(
    tmp_path: Path, server: ServerProcess, marker: str, wrong: str
) -> None:
    arguments = command(marker if wrong != "command line" else "--other")
    with subprocess.Popen(arguments) as stranger:
        try:
            created = psutil.Process(stranger.pid).create_time()
            record = PidRecord(
                pid=stranger.pid,
                created=created - 3600 if wrong == "created" else created,
                marker="-Dother" if wrong == "marker" else marker,
            )
            (tmp_path / "run").mkdir()
            (tmp_path / "run" / "probe.json").write_text(record.model_dump_json())
            assert server.pid is None
            assert server.request_stop() is False
            assert server.wait_gone(1)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_killed_process_is_gone_and_its_pid_file_stale(
    tmp_path: Path, server: ServerProcess, marker: str
) -> None:
    server.spawn(command(marker), tmp_path / "out")
    server.signal(signal.SIGKILL)
    give_up = time.monotonic() + 10
    while server.pid is not None:
        assert time.monotonic() < give_up
    assert (tmp_path / "run" / "probe.json").exists()
    assert server.exit_code == -signal.SIGKILL
    assert server.wait_gone(10)
    assert not (tmp_path / "run" / "probe.json").exists()


def test_a_lost_pid_file_is_found_by_the_marker(tmp_path: Path, server: ServerProcess, marker: str) -> None:
    server.spawn(command(marker), tmp_path / "out")
    pid = server.pid
    (tmp_path / "run" / "probe.json").unlink()
    assert server.find() is None
    found = server.adopt()
    assert found is not None
    assert found.pid == pid == server.pid


def test_a_paused_process_can_be_stopped(tmp_path: Path, server: ServerProcess, marker: str) -> None:
    server.spawn(command(marker), tmp_path / "out")
    assert server.signal(signal.SIGSTOP)
    assert server.request_stop()
    assert server.wait_gone(10)
    assert server.pid is None


def test_a_process_that_ignores_the_request_is_reported(
    tmp_path: Path, server: ServerProcess, marker: str
) -> None:
    deaf = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('deaf', flush=True); signal.pause()"
    server.spawn(command(marker, deaf), tmp_path / "out")
    with (tmp_path / "out").open() as output:
        while "deaf" not in output.read():
            assert server.pid is not None
    assert server.request_stop()
    assert server.wait_gone(0.2) is False
    assert server.pid is not None


def test_output_starts_afresh_with_every_start(tmp_path: Path, server: ServerProcess, marker: str) -> None:
    for word in ("first", "second"):
        server.spawn(command(marker, f"print({word!r})"), tmp_path / "out")
        assert server.wait_gone(10)
    assert (tmp_path / "out").read_text().split() == ["second"]
