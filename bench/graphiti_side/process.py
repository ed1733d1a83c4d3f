"""graphiti-core in a process and an environment of its own, which is made when it is not there."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

SCRIPT = Path(__file__).with_name("add_episodes.py")
PACKAGES = ("graphiti-core", "httpx")


def python_of(folder: Path) -> Path:
    """The interpreter of the environment in a folder; made with the newest graphiti-core when there is none."""
    python = folder / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    installed = subprocess.run([str(python), "-c", "import graphiti_core"], capture_output=True, check=False)
    if installed.returncode:
        print(f"installing {' and '.join(PACKAGES)} into {folder}", flush=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", *PACKAGES], check=True)
    return python


class GraphitiProcess:
    """One graphiti-core over an endpoint and a Neo4j; an async context manager. `version` is the package's."""

    def __init__(self, python: Path, url: str, bolt: str, dimension: int, log: Path) -> None:
        self._command = [str(python), str(SCRIPT), url, bolt, str(dimension)]
        self._log = log
        self._process: asyncio.subprocess.Process | None = None
        self.version = ""

    async def __aenter__(self) -> GraphitiProcess:
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log
            )
        self.version = (await self._answer())["version"]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process is not None and self._process.returncode is None:
            self._process.terminate()
            await self._process.wait()

    async def add(self, **message: Any) -> dict[str, Any]:
        """One message; see add_episodes.py. Raises RuntimeError when it failed."""
        return await self._ask(message)

    async def add_side_by_side(self, groups: Sequence[Sequence[Mapping[str, str]]]) -> dict[str, Any]:
        """The messages of several groups; see add_episodes.py."""
        return await self._ask(groups)

    async def _ask(self, message: Any) -> dict[str, Any]:
        if self._process is None or self._process.stdin is None:
            raise RuntimeError("graphiti-core is not running")
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> dict[str, Any]:
        if self._process is None or self._process.stdout is None:
            raise RuntimeError("graphiti-core is not running")
        line = await self._process.stdout.readline()
        told: dict[str, Any] = json.loads(line) if line else {"error": "it ended"}
        if "error" in told:
            raise RuntimeError(f"graphiti-core: {told['error']}; see {self._log}")
        return told
