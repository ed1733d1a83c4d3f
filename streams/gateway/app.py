"""The gateway's application: POST /v1/episodes, health and metrics."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any

import orjson
from fastapi import FastAPI, Request
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from starlette.exceptions import HTTPException
from starlette.responses import Response

from pipeline.access import AccessKeys, AllowedGroups, check_exposure, presented_key
from pipeline.clock import Clock, system_clock
from pipeline.errors import Poison, Retryable
from pipeline.model.event import InvalidEvent
from streams.agents.outbox import Sender
from streams.gateway.intake import NotJson, records_of
from streams.gateway.openapi import REQUEST_BODY, RESPONSES
from streams.gateway.problems import problem
from streams.gateway.room import Held, NoRoom, Room
from streams.prometheus_observer import PrometheusObserver
from streams.topics import EPISODES

log = logging.getLogger(__name__)
RETRY_AFTER = {"Retry-After": "2"}
CHALLENGE = {"WWW-Authenticate": 'Bearer realm="factstream"'}


@dataclass(frozen=True)
class GatewaySettings:
    """Frozen settings of the gateway.

    max_body: bytes of one request. max_waiting, max_waiting_bytes: requests, and bytes of their bodies, that are under
    way at once; beyond, 503 with Retry-After.
    confirm_within: seconds that Kafka has to confirm before the producer is told to send again.
    api_keys: SHA-256 of a key in hex to the groups that it may write ("*": all); needed unless `host` is loopback.
    api_keys_file: a JSON file of more such keys, read again when it changes.
    """

    topic_prefix: str = ""
    max_body: int = 16 * 1024 * 1024
    max_waiting: int = 256
    max_waiting_bytes: int = 64 * 1024 * 1024
    confirm_within: float = 30.0
    ontologies: Collection[str] = ()
    host: str = "127.0.0.1"
    api_keys: Mapping[str, AllowedGroups] = field(default_factory=dict)
    api_keys_file: Path | None = None


def create_gateway(
    settings: GatewaySettings,
    sender: Sender,
    *,
    ready: Callable[[], Any],
    observer: PrometheusObserver | None = None,
    clock: Clock = system_clock,
    on_stop: Callable[[], Any] | None = None,
) -> FastAPI:
    """The application.

    Args:
        sender: takes records; returns when Kafka has confirmed them.
        ready: a coroutine function that raises when Kafka or the topics are not there.
        on_stop: a coroutine function that is awaited when the application stops.

    Raises SettingError when the keys are malformed, or when there are none and the host is no loopback address.
    """
    check_exposure("gateway", settings.host, settings.api_keys, settings.api_keys_file)
    keys = AccessKeys(settings.api_keys, settings.api_keys_file)
    seen = observer or PrometheusObserver()
    room = Room(settings.max_waiting, settings.max_waiting_bytes)
    topic = EPISODES.named(settings.topic_prefix)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        if on_stop is not None:
            await on_stop()

    app = FastAPI(title="factstream gateway", version="1", lifespan=lifespan, redoc_url=None)

    async def publish(request: Request, held: Held) -> Response:
        allowed: AllowedGroups | None = "*"
        if keys.required:
            key = presented_key(request.headers.get("authorization", ""), request.headers.get("x-api-key"))
            allowed = keys.groups_of(key) if key else None
        if allowed is None:
            return problem(HTTPStatus.UNAUTHORIZED, "a known API key is needed", (), CHALLENGE)
        body = await _body(request, settings.max_body, held)
        if body is None:
            detail = f"the body is larger than {settings.max_body} bytes"
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, detail, [("content", detail)])
        try:
            records = records_of(body, clock, settings.ontologies)
        except NotJson as error:
            return problem(HTTPStatus.BAD_REQUEST, error.reason)
        except InvalidEvent as error:
            detail = "; ".join(f"{path}: {text}" if path else text for path, text in error.errors[:5])
            return problem(HTTPStatus.UNPROCESSABLE_ENTITY, detail, error.errors)
        for record in records:
            if allowed != "*" and record.group_id not in allowed:
                return problem(
                    HTTPStatus.FORBIDDEN, f"this API key may not write to group {record.group_id!r}"
                )
        try:
            async with asyncio.timeout(settings.confirm_within):
                await sender.send_all(topic, [(r.group_id.encode(), r.value) for r in records])
        except (Retryable, TimeoutError) as error:
            log.warning("Kafka did not confirm: %s", error)
            return problem(
                HTTPStatus.SERVICE_UNAVAILABLE, "Kafka has not confirmed; send again", (), RETRY_AFTER
            )
        except Poison as error:
            return problem(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, error.reason, [("content", error.reason)])
        answer = orjson.dumps({"ids": [r.id for r in records]})
        return Response(answer, HTTPStatus.ACCEPTED, media_type="application/json")

    @app.post("/v1/episodes", status_code=202, openapi_extra=REQUEST_BODY, responses=RESPONSES)
    async def episodes(request: Request) -> Response:
        """Publish one episode or a list of them. 202 means that Kafka has them: they will not be lost.

        One invalid event refuses the whole list. Sending again is safe: an id is one episode.
        """
        started = time.monotonic()
        try:
            with room.request() as held:
                response = await publish(request, held)
        except NoRoom as error:
            response = problem(HTTPStatus.SERVICE_UNAVAILABLE, str(error), (), RETRY_AFTER)
        seen.gateway_request("/v1/episodes", response.status_code, time.monotonic() - started)
        return response

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process answers."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> Response:
        """Kafka answers and the topics are there."""
        try:
            async with asyncio.timeout(5):
                await ready()
        except (Retryable, TimeoutError, OSError) as error:
            return problem(HTTPStatus.SERVICE_UNAVAILABLE, f"Kafka is not ready: {error}", (), RETRY_AFTER)
        return Response(b'{"status":"ok"}', media_type="application/json")

    @app.get("/metrics")
    async def metrics() -> Response:
        """Prometheus metrics of this process."""
        return Response(generate_latest(seen.registry), media_type=CONTENT_TYPE_LATEST)

    async def on_http(_: Request, error: Exception) -> Response:
        status = HTTPStatus(error.status_code) if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
        return problem(status, status.description or status.phrase)

    async def on_defect(_: Request, error: Exception) -> Response:
        log.exception("the gateway failed", exc_info=error)
        return problem(
            HTTPStatus.INTERNAL_SERVER_ERROR, "the gateway failed; nothing can be said of the events"
        )

    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_defect)
    return app


async def _body(request: Request, limit: int, held: Held) -> bytes | None:
    """The body, or None when it is larger than allowed; what is too large is not kept. Raises NoRoom."""
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size <= limit:
            held.add(len(part))
            parts.append(part)
    return b"".join(parts) if size <= limit else None
