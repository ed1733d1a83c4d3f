"""What the service takes on: so many requests at a time, so large a body. What is too much is refused at once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from search_api.metrics import SearchMetrics
from search_api.problems import ProblemError, problem_response, unavailable
from search_api.settings import ApiSettings

LIMITED_PREFIX = "/v1/"


class Gate:
    """Lets a bounded number of requests in; a bounded number more wait for a bounded time."""

    def __init__(self, settings: ApiSettings, metrics: SearchMetrics) -> None:
        self._places = asyncio.Semaphore(settings.max_concurrent)
        self._settings = settings
        self._metrics = metrics
        self._waiting = 0

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Hold a place while the body runs. Raises a 503 problem when there is none to be had."""
        await self._enter()
        self._metrics.in_flight.inc()
        try:
            yield
        finally:
            self._metrics.in_flight.dec()
            self._places.release()

    async def _enter(self) -> None:
        if self._places.locked() and self._waiting >= self._settings.max_waiting:
            raise self._busy("queue_full", "too many requests are waiting")
        self._waiting += 1
        self._metrics.waiting.set(self._waiting)
        try:
            async with asyncio.timeout(self._settings.max_wait_seconds):
                await self._places.acquire()
        except TimeoutError:
            raise self._busy("waited_too_long", "no place came free in time") from None
        finally:
            self._waiting -= 1
            self._metrics.waiting.set(self._waiting)

    def _busy(self, reason: str, detail: str) -> ProblemError:
        self._metrics.rejected.labels(reason).inc()
        return unavailable(f"the service is busy: {detail}", self._settings.retry_after_seconds)


class Limits:
    """ASGI middleware around everything under /v1/: the gate, and the limit on the size of bodies.

    A body is read whole before the request takes a place, so that slow senders hold none.
    """

    def __init__(self, app: ASGIApp, gate: Gate, settings: ApiSettings, metrics: SearchMetrics) -> None:
        self._app = app
        self._gate = gate
        self._max_body = settings.max_body_bytes
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] != "http" or not scope["path"].startswith(LIMITED_PREFIX):
            await self._app(scope, receive, send)
            return
        try:
            body = await self._read(scope, receive)
            if body is None:
                return
            async with self._gate.place():
                await self._app(scope, _replay(body, receive), send)
        except ProblemError as problem:
            await problem_response(problem)(scope, receive, send)

    async def _read(self, scope: Scope, receive: Receive) -> bytes | None:
        """The body; None when the caller is gone. Raises a 413 problem."""
        declared = dict(scope["headers"]).get(b"content-length", b"0")
        if declared.isdigit() and int(declared) > self._max_body:
            raise self._too_large()
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body", b"")
            if len(body) > self._max_body:
                raise self._too_large()
            if not message.get("more_body", False):
                return bytes(body)

    def _too_large(self) -> ProblemError:
        self._metrics.rejected.labels("body_too_large").inc()
        return ProblemError(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"the body is larger than {self._max_body} bytes",
            headers={"Connection": "close"},
        )


def _replay(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body that was read, and then whatever comes after it."""
    pending: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return pending.pop() if pending else await receive()

    return replay
