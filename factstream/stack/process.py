"""A server process that outlives the command which started it."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import psutil
from pydantic import BaseModel, ConfigDict, ValidationError

from factstream.stack.environment import java_environment
from factstream.stack.files import write_atomic

# A process's start time is computed from the boot time, which some systems round differently between calls.
START_TOLERANCE_SECONDS = 2.0
COMMAND_LINE_SECONDS = 5.0


class PidRecord(BaseModel):
    """What the pid file holds: `created` is the start time in seconds since the epoch."""

    model_config = ConfigDict(frozen=True)

    pid: int
    created: float
    marker: str


class ServerProcess:
    """Start, find again and signal one server, through a pid file.

    The process found is only taken for ours when pid, start time and `marker` (an argument on its command
    line which names this server and this folder) all agree: a pid that the system has given to somebody
    else is never signalled. With a lost or stale pid file the process is found by its marker.
    """

    def __init__(self, pid_file: Path, marker: str) -> None:
        self._pid_file = pid_file
        self._marker = marker
        self._child: subprocess.Popen[bytes] | None = None

    def spawn(self, command: Sequence[str], output: Path) -> None:
        """Start `command` in a session of its own, its output going to a fresh `output`."""
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("wb") as log:
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=java_environment(),
                start_new_session=True,
            )
        process = psutil.Process(self._child.pid)
        self._await_command_line(process)
        self._remember(process)

    def find(self) -> psutil.Process | None:
        """The running process, or None. A zombie is not running."""
        record = self._read()
        if record is None:
            return None
        try:
            # The pid of a child is not given to anybody else before its end has been asked for here.
            if self._child is not None and self._child.pid == record.pid:
                return psutil.Process(record.pid) if self._child.poll() is None else None
            process = psutil.Process(record.pid)
            same = (
                abs(process.create_time() - record.created) <= START_TOLERANCE_SECONDS
                and record.marker == self._marker
                and self._is_marked(process)
            )
            return process if same else None
        except psutil.Error:  # gone, or it belongs to somebody whose command line we may not read
            return None

    def adopt(self) -> psutil.Process | None:
        """As `find`, and look through all processes for the marker when the pid file does not help."""
        found = self.find()
        if found is None:
            for process in psutil.process_iter():
                try:
                    marked = self._is_marked(process)
                except psutil.Error:
                    continue
                if marked:
                    self._remember(process)
                    return process
        return found

    @property
    def pid(self) -> int | None:
        """The process id while it runs."""
        found = self.find()
        return None if found is None else found.pid

    @property
    def exit_code(self) -> int | None:
        """The exit code, if this object started the process and it has ended."""
        return None if self._child is None else self._child.poll()

    def signal(self, number: signal.Signals) -> bool:
        """Send a signal; False when the process was not running."""
        found = self.find()
        if found is None:
            return False
        try:
            found.send_signal(number)
        except psutil.NoSuchProcess:
            return False
        return True

    def request_stop(self) -> bool:
        """Ask for a clean end, also of a paused process; False when it was not running."""
        asked = self.signal(signal.SIGTERM)
        return self.signal(signal.SIGCONT) and asked

    def wait_gone(self, timeout: float) -> bool:
        """Wait up to `timeout` seconds for the end; forget the pid file when it has come."""
        found = self.find()
        if found is not None:
            try:
                # A child is waited for by its own handle, which keeps its exit code.
                if self._child is not None and self._child.pid == found.pid:
                    self._child.wait(timeout)
                else:
                    found.wait(timeout)
            except (psutil.TimeoutExpired, subprocess.TimeoutExpired):
                return False
        self._pid_file.unlink(missing_ok=True)
        return True

    def _await_command_line(self, process: psutil.Process) -> None:
        """The system shows an empty command line for a moment after a start; nobody must read it then."""
        give_up = time.monotonic() + COMMAND_LINE_SECONDS
        while time.monotonic() < give_up and process.status() != psutil.STATUS_ZOMBIE:
            with suppress(psutil.ZombieProcess):
                if self._marker in process.cmdline():
                    return
            time.sleep(0.001)

    def _remember(self, process: psutil.Process) -> None:
        record = PidRecord(pid=process.pid, created=process.create_time(), marker=self._marker)
        write_atomic(self._pid_file, record.model_dump_json())

    def _read(self) -> PidRecord | None:
        try:
            return PidRecord.model_validate_json(self._pid_file.read_bytes())
        except (FileNotFoundError, ValidationError):
            return None

    def _is_marked(self, process: psutil.Process) -> bool:
        return process.status() != psutil.STATUS_ZOMBIE and self._marker in process.cmdline()
