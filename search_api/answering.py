"""Answering: the questions that the routes and the tools for agents have in common, with all that stands around them.

Who may read what, waiting for an episode, the search or the read itself, and the measurements of it.
"""

from __future__ import annotations

from typing import TypeVar

from pipeline.graph.search import Scope
from search_api.answers import ContextAnswer, SearchAnswer
from search_api.arrivals import Arrivals, Awaited
from search_api.auth import Caller
from search_api.metrics import SearchMetrics
from search_api.requests import ContextRequest, SearchRequest
from search_api.retrieval.plan import choose_scopes
from search_api.retrieval.search import CONTEXT_SCOPES, SEARCH_SCOPES, Retrieval
from search_api.turns import Turn

A = TypeVar("A", SearchAnswer, ContextAnswer)


class Answering:
    """Answers searches. Raises a 403 problem for groups that the caller may not read, and what the reader raises."""

    def __init__(self, retrieval: Retrieval, arrivals: Arrivals, metrics: SearchMetrics) -> None:
        self._retrieval = retrieval
        self._arrivals = arrivals
        self._metrics = metrics

    async def search(self, request: SearchRequest, caller: Caller, turn: Turn) -> SearchAnswer:
        """The items."""
        caller.must_read(request.group_ids)
        waited = await self._wait(request.awaited, turn)
        found = await self._retrieval.search(request)
        return self._measured(found, request, SEARCH_SCOPES, waited)

    async def context(self, request: ContextRequest, caller: Caller, turn: Turn) -> ContextAnswer:
        """The text for a prompt."""
        caller.must_read(request.group_ids)
        waited = await self._wait(request.awaited, turn)
        found = await self._retrieval.context(request)
        return self._measured(found, request, CONTEXT_SCOPES, waited)

    async def _wait(self, awaited: Awaited | None, turn: Turn) -> str | None:
        if awaited is None:
            return None
        # Others work meanwhile: a place is for work, and whoever waits does none.
        async with turn.paused():
            return await self._arrivals.wait(awaited)

    def _measured(
        self, found: A, request: SearchRequest, default_scopes: tuple[Scope, ...], waited: str | None
    ) -> A:
        if waited is not None:
            found = found.model_copy(update={"degraded": (*found.degraded, waited)})
        scopes = choose_scopes(request, default_scopes)
        counts = {scope.value: len(getattr(found, scope)) for scope in Scope if scope in scopes}
        self._metrics.searched(counts, found.degraded, found.took_ms / 1000)
        return found
