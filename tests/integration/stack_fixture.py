"""The Kafka and Neo4j that integration tests share."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from factstream.stack import LocalStack


@dataclass(frozen=True)
class SharedStack:
    """Addresses for clients. `local` is the stack that this run started, None for servers given to it."""

    kafka_bootstrap: str
    bolt_uri: str
    local: LocalStack | None


@contextmanager
def shared_stack() -> Iterator[SharedStack]:
    """Servers named by FACTSTREAM_TEST_KAFKA ("host:port") and FACTSTREAM_TEST_BOLT ("bolt://host:port").

    Without both, a stack of our own on free ports in a folder of its own, stopped and deleted at the end.
    """
    kafka, bolt = os.environ.get("FACTSTREAM_TEST_KAFKA"), os.environ.get("FACTSTREAM_TEST_BOLT")
    if kafka and bolt:
        yield SharedStack(kafka, bolt if "://" in bolt else f"bolt://{bolt}", None)
        return
    with (
        tempfile.TemporaryDirectory(prefix="factstream-") as folder,
        LocalStack(Path(folder), kafka_port=0, bolt_port=0, detached=False, report=print) as local,
    ):
        status = local.status()
        if status.kafka_bootstrap is None or status.bolt_uri is None:
            raise AssertionError("a started stack has addresses")
        yield SharedStack(status.kafka_bootstrap, status.bolt_uri, local)
