"""Planning the common searches before anybody asks them.

The database plans a query once for each shape and keeps the plan. A search of all scopes takes it a second on an idle
machine and far longer on a busy one or in the first minute of its life; the first caller would pay for that.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pipeline.errors import FactstreamError, Retryable
from pipeline.graph.search import Method, Scope, SearchPlan

_log = logging.getLogger(__name__)

_HYBRID = (Method.bm25, Method.cosine)
_ALL = tuple(Scope)
FIRST = 2
"""Plans that are waited for: what a search and a context do when nothing else is asked for."""
NOBODY = "factstream warm-up"
"""A group that holds nothing. The plan does not depend on it, only on the number of groups."""


def common_plans(dimension: int) -> Sequence[SearchPlan]:
    """Searches whose shapes most requests have: now and at any time, of facts, of all scopes, and for a context; then
    now with what other rerankers ask for: similarities, mentions and distances."""
    plans = []
    for as_of in (datetime(2000, 1, 1, tzinfo=UTC), None):
        for scopes, around in (((Scope.facts,), False), (_ALL, True), (_ALL, False)):
            plans.append(
                SearchPlan(
                    group_ids=(NOBODY,),
                    scopes=scopes,
                    methods=_HYBRID,
                    limit=50,
                    terms=("warm", "up"),
                    vector=[1.0] + [0.0] * (dimension - 1),
                    as_of=as_of,
                    neighbours=2 if around else 0,
                    sources=around,
                )
            )
    facts, _, everything = plans[:3]
    return [
        *plans,
        replace(everything, similarities=True),
        replace(facts, similarities=True),
        replace(everything, mentions=True),
        replace(facts, distances_from=NOBODY),
    ]


class Warming:
    """Runs searches in the background, one after the other; `check` waits for the first `FIRST` of them.

    A search that fails ends it with a line in the log: plans are then made as they are needed.
    """

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._planned = 0

    def start(self, plans: Sequence[SearchPlan], search: Callable[[SearchPlan], Awaitable[object]]) -> None:
        """Begin, unless it has begun before."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(plans, search))

    def check(self) -> None:
        """Raises Retryable while the first ones go on."""
        if self._task is not None and not self._task.done() and self._planned < FIRST:
            raise Retryable("the database is planning the common searches")

    async def stop(self) -> None:
        """End it; it can be started again."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _run(
        self, plans: Sequence[SearchPlan], search: Callable[[SearchPlan], Awaitable[object]]
    ) -> None:
        try:
            for plan in plans:
                await search(plan)
                self._planned += 1
        except FactstreamError as error:
            _log.warning("not all common searches could be planned ahead: %s", error)
        except Exception:
            _log.exception("not all common searches could be planned ahead")
