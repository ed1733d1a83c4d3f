"""Fault runs: `make faults` does all of them, `make faults-short` a short form.

Each scenario breaks something while episodes come in, and ends with the same question (`checker`): is everything that
was acknowledged there, once, in order?
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from tests.faults.graph_checks import Expected
from tests.faults.ground import Ground, ground
from tests.faults.report import Report, table
from tests.faults.scale import Scale, asked_scale
from tests.faults.undisturbed import undisturbed

HERE = Path(__file__).parent
PROPERTY = "fault report"
REPORTS: dict[str, Report] = {}
"""By test: what all processes of the run have reported."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks the tests of this folder; the short form is without those that only the whole run does."""
    left = []
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.faults)
        if not asked_scale().full and item.get_closest_marker("whole_run"):
            left.append(item)
    if left:
        config.hook.pytest_deselected(items=left)
        items[:] = [item for item in items if item not in left]


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Scenarios run side by side in processes of their own; what they report comes with the outcome of their test."""
    for name, value in report.user_properties:
        if name == PROPERTY:
            REPORTS[report.nodeid] = Report(**dict(value))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The table, also into the file that FAULTS_REPORT names."""
    if not REPORTS:
        return
    text = table([made for _, made in sorted(REPORTS.items())])
    terminalreporter.section(f"fault runs, {asked_scale().name}")
    terminalreporter.write_line(text)
    if file := os.environ.get("FAULTS_REPORT"):
        Path(file).parent.mkdir(parents=True, exist_ok=True)
        Path(file).write_text(text + "\n", encoding="utf-8")


@pytest.fixture(scope="session")
def scale() -> Scale:
    """How much is done."""
    return asked_scale()


@pytest.fixture(scope="session")
def shared_servers() -> Iterator[Ground]:
    """Kafka and Neo4j of this process."""
    with ground() as made:
        yield made


@pytest.fixture
async def servers(shared_servers: Ground) -> AsyncIterator[Ground]:
    """Kafka and Neo4j that may be broken. What a scenario that failed has left down is started for the next."""
    yield shared_servers
    for server in shared_servers.down:
        await shared_servers.start(server)


_UNDISTURBED: dict[int, list[Expected]] = {}


@pytest.fixture
def expected(servers: Ground) -> Callable[[int], Awaitable[list[Expected]]]:
    """The undisturbed outcome of histories of so many events; asked for before anything is broken."""

    async def outcome(events: int) -> list[Expected]:
        if events not in _UNDISTURBED:
            _UNDISTURBED[events] = await undisturbed(servers, events)
        return _UNDISTURBED[events]

    return outcome


@pytest.fixture
def report(request: pytest.FixtureRequest) -> Callable[[str], Any]:
    """`async with report(scenario) as r`: kept for the table, with the seconds that it took."""

    @asynccontextmanager
    async def kept(scenario: str) -> AsyncIterator[Report]:
        made, started = Report(scenario), time.monotonic()
        yield made
        made.seconds = time.monotonic() - started
        request.node.user_properties.append((PROPERTY, asdict(made)))
        assert made.sound, made.told()

    return kept
