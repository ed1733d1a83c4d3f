"""Runs the black-box cases against the real stack: starts everything, runs them, stops everything."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from factstream.settings import load_settings
from factstream.supervisor import Supervisor, Urls


def main() -> int:
    """Exit code of the runner: 0 when every case passed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shared", type=Path, default=Path("../shared"))
    parser.add_argument("--root", type=Path, default=Path(".factstream/cases"))
    options, more = parser.parse_known_args()
    cases = options.shared / "cases"
    if not (cases / "run.py").exists():
        parser.error(f"there are no cases in {cases}; say where with --shared")
    settings = load_settings(
        {
            "stack_root": options.root,
            "gateway_port": 0,
            "search_port": 0,
            "worker_port": 0,
            "log_level": "warning",
        }
    )
    supervisor = Supervisor(settings, report=lambda line: print(line, file=sys.stderr))
    codes: list[int] = []

    def run(urls: Urls) -> None:
        command = [sys.executable, str(cases / "run.py"), "--gateway", urls.gateway, "--search", urls.search]
        codes.append(
            subprocess.run([*command, *more, str(cases)], env=dict(os.environ), check=False).returncode
        )

    supervisor.run(on_ready=lambda _: None, until=run)
    return codes[0] if codes else 1


if __name__ == "__main__":
    sys.exit(main())
