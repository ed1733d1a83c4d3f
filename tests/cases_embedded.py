"""Runs the black-box cases against `factstream up --embedded` on a fresh file."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path


def main() -> int:
    """Exit code of the runner: 0 when every case passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    options, more = parser.parse_known_args()
    cases = options.shared / "cases"
    if not (cases / "run.py").exists():
        parser.error(f"there are no cases in {cases}; say where with --shared")
    with tempfile.TemporaryDirectory() as folder:
        up = ["up", "--embedded", "--file", str(Path(folder) / "cases.db")]
        server = subprocess.Popen(
            [sys.executable, "-m", "factstream", *up, "--gateway-port", "0", "--search-port", "0"],
            env={**os.environ, "FACTSTREAM_LOG_LEVEL": "warning"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            line = server.stdout.readline() if server.stdout else ""
            if not line.startswith("ready "):
                return server.wait() or 1
            gateway, search = (part.split("=", 1)[1] for part in line.split()[1:])
            command = [sys.executable, str(cases / "run.py"), "--gateway", gateway, "--search", search]
            return subprocess.run([*command, *more, str(cases)], check=False).returncode
        finally:
            server.terminate()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
