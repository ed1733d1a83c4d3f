"""What `make demo` installs is a part of what `make test` installs, in the same versions."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def pins(name: str) -> dict[str, str]:
    return dict(re.findall(r"^([a-z0-9._-]+)==(\S+)", (ROOT / name).read_text("utf-8"), re.MULTILINE))


def test_the_small_lock_is_a_part_of_the_large_one() -> None:
    small, large = pins("requirements.lock"), pins("requirements-dev.lock")
    assert small.items() <= large.items()
    assert len(small) < len(large)


def test_the_small_lock_has_everything_that_the_program_names() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    named = [*project["dependencies"], *project["optional-dependencies"]["local"]]
    names = {re.split(r"[^a-zA-Z0-9._-]", one)[0].lower() for one in named}
    assert names
    assert names <= pins("requirements.lock").keys()


def test_the_demonstrations_are_the_two_that_the_readme_names() -> None:
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert {"demo", "demo-stack"} <= set(targets)
    told = set(re.findall(r"make ([a-z-]+)", (ROOT / "README.md").read_text("utf-8")))
    assert told <= set(targets)
    assert {"demo", "demo-stack", "test"} <= told
