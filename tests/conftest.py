"""Fixtures of all tests: one stack of real servers for the whole run, started by the first test that needs it."""

from __future__ import annotations

import signal
import sys
import uuid
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.integration.stack_fixture import SharedStack, shared_stack


def pytest_configure() -> None:
    """No example has a time limit: a machine may be busy. A run that is told to stop ends through its fixtures, so that
    the servers which it started end too."""
    settings.register_profile("factstream", deadline=None)
    settings.load_profile("factstream")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


@pytest.fixture(scope="session")
def stack() -> Iterator[SharedStack]:
    """Real Kafka and Neo4j. Tests that break a server start a LocalStack of their own instead."""
    with shared_stack() as found:
        yield found


@pytest.fixture(scope="session")
def kafka_bootstrap(stack: SharedStack) -> str:
    """Kafka's address."""
    return stack.kafka_bootstrap


@pytest.fixture(scope="session")
def bolt_uri(stack: SharedStack) -> str:
    """Neo4j's address; no password. Its vector indexes take 384 dimensions, whoever opens it first."""
    return stack.bolt_uri


@pytest.fixture
def group() -> str:
    """A group id that no other test has used."""
    return f"group-{uuid.uuid4().hex}"


@pytest.fixture
def other_group() -> str:
    """Another one."""
    return f"group-{uuid.uuid4().hex}"


@pytest.fixture(scope="session")
def topic_prefix() -> str:
    """What this run puts before topic names, so that two runs can share a broker."""
    return f"t{uuid.uuid4().hex[:12]}-"
