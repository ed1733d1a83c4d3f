"""A real worker, composed as `factstream worker` composes it, that may be told where to die or what to suffer.

What it is told is a dictionary: `settings` (of factstream), `safe` (Faust settings that are replaced), `pauses` (first
and longest pause), `transaction_seconds` (after which the database ends one), `log` (a file) and, optional, `crash` (the
fields of a CrashPlan) and `suffers` (the fields of a Suffering).
"""

from __future__ import annotations

import asyncio
import logging
import signal
from dataclasses import replace
from pathlib import Path
from typing import Any

import streams.worker
from factstream import compose, models
from factstream.settings import Settings
from pipeline.clock import system_clock
from pipeline.graph.neo4j import connection
from pipeline.graph.neo4j.lane import Commit
from streams import lane_app
from streams.prometheus_observer import PrometheusObserver
from streams.worker import Worker, WorkerSettings
from tests.faults.suffering import Suffering, suffer
from tests.integration.pipeline.crash_points import CrashingStore, CrashPlan, crashing_producer


def crash_in_transactions(plan: CrashPlan) -> None:
    """Adds the points "transaction:<stage>", inside an open transaction that holds its lane."""
    finish = Commit.finish

    async def crashing(self: Commit, *args: Any, **kwargs: Any) -> None:
        plan.reached(f"transaction:{self.lane.stage}")
        await finish(self, *args, **kwargs)

    Commit.finish = crashing  # type: ignore[method-assign]


async def main(told: dict[str, Any]) -> None:
    lane_app.SAFE |= told["safe"]
    connection.TRANSACTION_SECONDS = told["transaction_seconds"]
    if suffers := told.get("suffers"):
        suffer(Suffering(**{**suffers, "noted": Path(suffers["noted"])}))
    settings = Settings(**told["settings"])
    observer = PrometheusObserver()
    embedder = models.build_embedder(settings, observer)
    store = compose.build_store(settings, embedder, observer)
    seen: Any = store
    if crash := told.get("crash"):
        plan = CrashPlan(**{**crash, "marker": Path(crash["marker"])})
        seen = CrashingStore(store, plan)
        streams.worker.Producer = crashing_producer(plan, settings.topic_prefix)  # type: ignore[misc]
        crash_in_transactions(plan)
    first, longest = told["pauses"]
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await store.open()
    try:
        worker = Worker(
            WorkerSettings(
                compose.delivery(settings),
                replace(compose.policy(settings), first_pause=first, longest_pause=longest),
                halt=compose.halt(settings),
            ),
            compose.build_stages(settings, seen, embedder, observer),
            store,
            observer,
            system_clock,
        )
        await worker.run(stop)
    finally:
        await store.close()


def run(told: dict[str, Any]) -> None:
    """Until SIGTERM; the process ends with code 0 then."""
    logging.basicConfig(
        filename=told["log"],
        level=logging.INFO,
        format="%(asctime)s %(process)d %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("httpx").setLevel(logging.WARNING)
    asyncio.run(main(told))
