"""Measures every request: how long it took, by the route that answered and its status."""

from __future__ import annotations

import time
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from search_api.metrics import SearchMetrics

_REJECTED = {HTTPStatus.UNAUTHORIZED: "unauthorized", HTTPStatus.FORBIDDEN: "forbidden"}


class Measured:
    """ASGI middleware around everything else. A route is known by its template, so ids never become labels."""

    def __init__(self, app: ASGIApp, metrics: SearchMetrics) -> None:
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start = time.perf_counter()
        # What raises instead of answering becomes a 500 further out.
        status = HTTPStatus.INTERNAL_SERVER_ERROR.value

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, watched)
        finally:
            route = getattr(scope.get("route"), "path", "unmatched")
            self._metrics.requests.labels(route, str(status)).observe(time.perf_counter() - start)
            if status in _REJECTED:
                self._metrics.rejected.labels(_REJECTED[HTTPStatus(status)]).inc()
