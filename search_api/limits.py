"""What the service takes on: so many requests at a time, so large a body, so long a work. Too much is refused."""

from __future__ import annotations

from http import HTTPStatus

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from search_api.metrics import SearchMetrics
from search_api.problems import ProblemError, problem_response
from search_api.settings import ApiSettings
from search_api.turns import TURN, Turn, Turns

LIMITED_PREFIX = "/v1/"


class Limits:
    """ASGI middleware around everything under /v1/: turns, and the limit on the size of bodies.

    A body is read whole before the request takes a place, so that slow senders hold none. The turn of a request is in
    its scope, under `search_api.turns.TURN`.
    """

    def __init__(self, app: ASGIApp, turns: Turns, settings: ApiSettings, metrics: SearchMetrics) -> None:
        self._app = app
        self._turns = turns
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
            async with self._turns.turn() as turn:
                scope[TURN] = turn
                await self._app(scope, _replay(body, receive), _until_answered(turn, send))
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


def _until_answered(turn: Turn, send: Send) -> Send:
    """A `send` that ends the deadline when the answer begins: only its receiver can hold it up then."""

    async def watched(message: Message) -> None:
        if message["type"] == "http.response.start":
            await turn.stop_clock()
        await send(message)

    return watched
