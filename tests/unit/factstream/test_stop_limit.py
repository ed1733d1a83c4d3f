"""A process that does not end after SIGTERM is ended, and says where it stood."""

from __future__ import annotations

import signal
import subprocess
import sys

from factstream.cli.stop_limit import STUCK

SERVES = """
import asyncio, threading
from factstream.cli.common import until_stopped
from factstream.cli.stop_limit import StopLimit

async def serve(stop):
    print("ready", flush=True)
    await stop.wait()
    {then}

asyncio.run(until_stopped(serve, StopLimit({limit})))
print("ended", flush=True)
"""


def terminated(then: str, limit: float) -> tuple[int, str, str]:
    """Exit code, output and errors of a process that gets SIGTERM once it serves."""
    code = SERVES.format(then=then, limit=limit)
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGTERM)
        out, errors = process.communicate(timeout=60)
    return process.returncode, out, errors


def test_a_stop_that_hangs_ends_and_says_where():
    code, out, errors = terminated("await asyncio.Event().wait()", 0.5)
    assert code == STUCK
    assert "ended" not in out
    assert "not stopped within 0.5 s" in errors
    assert "most recent call first" in errors


def test_a_thread_that_does_not_end_keeps_no_process():
    code, out, errors = terminated("threading.Thread(target=threading.Event().wait).start()", 1.0)
    assert code == STUCK
    assert "ended" in out
    assert "not stopped within 1 s" in errors


def test_a_stop_that_ends_in_time_is_left_alone():
    assert terminated("pass", 30.0) == (0, "ended\n", "")
