"""The inner parts of faust-streaming that delivery overrides or calls, and the check that they are there."""

from __future__ import annotations

import faust
from faust.app.base import App
from faust.transport.base import Transport
from faust.transport.drivers.aiokafka import AIOKafkaConsumerThread, Consumer
from mode.threads import WorkerThread

from streams.errors import FaustChanged

PARTS: dict[type, tuple[str, ...]] = {
    App: (
        "_on_partitions_revoked",
        "_on_partitions_assigned",
        "_stop_consumer",
        "_new_consumer",
        "_create_directories",
        "on_started_init_extra_tasks",
        "_on_rebalance_when_stopped",
    ),
    Consumer: (
        "ack",
        "_commit",
        "_filter_tps_with_pending_acks",
        "_new_offset",
        "_add_gap",
        "highwater",
        "_getmany",
        "on_stop",
    ),
    AIOKafkaConsumerThread: (
        "_create_worker_consumer",
        "on_thread_stop",
        "_gather_remaining_tasks",
        "Worker",
    ),
    WorkerThread: ("stop",),
    Transport: ("create_consumer",),
}


def check_faust(parts: dict[type, tuple[str, ...]] | None = None) -> None:
    """Raises FaustChanged when a part is gone: overriding nothing would lose events in silence."""
    missing = [
        f"{owner.__name__}.{name}"
        for owner, names in (PARTS if parts is None else parts).items()
        for name in names
        if not callable(getattr(owner, name, None))
    ]
    if missing:
        raise FaustChanged(str(faust.__version__), missing)
