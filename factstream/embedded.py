"""EmbeddedServer: gateway, stages and search service in one process on one file, with the contracts of the real ones."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import uvicorn
from fastapi import FastAPI

from factstream.compose import api_settings
from factstream.memory.engine import Engine, Parts
from factstream.settings import Settings
from pipeline.clock import Clock, system_clock
from pipeline.errors import Retryable, SettingError
from pipeline.graph.sqlite.reader import SqliteGraphReader
from search_api.app import create_app
from search_api.metrics import SearchMetrics
from search_api.observer import MetricsObserver
from streams.gateway.app import GatewaySettings, create_gateway
from streams.gateway.intake import Record
from streams.prometheus_observer import PrometheusObserver

STOP_SECONDS = 10


@dataclass(frozen=True)
class EmbeddedUrls:
    """Where the two services answer."""

    gateway: str
    search: str


class DurableSender:
    """What the gateway sends to instead of Kafka: the inbox of the file. Records are those of the gateway."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def send(
        self, topic: str, key: bytes | None, value: bytes | None, headers: Iterable[tuple[str, bytes]] = ()
    ) -> None:
        """One record; durable when this returns."""
        await self.send_all(topic, [(key, value)], headers)

    async def send_all(
        self,
        topic: str,
        records: Sequence[tuple[bytes | None, bytes | None]],
        headers: Iterable[tuple[str, bytes]] = (),
    ) -> None:
        """All of them or none; durable when this returns. Raises Retryable when the file cannot be written."""
        kept = []
        for _, value in records:
            decoded = orjson.loads(value or b"")
            kept.append(Record(decoded["id"], decoded["group_id"], value or b""))
        await self._engine.accept(kept)


class EmbeddedServer:
    """Serves one graph file over HTTP.

    Args:
        settings: host, ports (0: any free one), keys, and who reads and embeds.
        path: the file; created when its folder exists.
        clock: what time it is for T', the time of knowing.
    """

    def __init__(self, settings: Settings, path: Path, clock: Clock = system_clock) -> None:
        self._settings = settings
        self._path = path
        self._clock = clock

    @asynccontextmanager
    async def running(self) -> AsyncIterator[tuple[EmbeddedUrls, asyncio.Future[BaseException]]]:
        """Both services answer inside the block. Gives their addresses, and a future of the error that ends them.

        Raises SettingError when the file or a port cannot be used, or keys are missing off loopback.
        """
        settings = self._settings
        observer = PrometheusObserver(top_groups=settings.metric_groups)
        parts = Parts(settings=settings, clock=self._clock, observer=observer)
        embedder = parts.caching_embedder()
        metrics = SearchMetrics()
        search_app = create_app(
            api_settings(settings),
            SqliteGraphReader(self._path, observer=MetricsObserver(metrics)),
            embedder,
            clock=self._clock,
            metrics=metrics,
        )
        engine = Engine(self._path, parts, embedder)
        await engine.open()
        try:
            gateway_app = create_gateway(
                GatewaySettings(
                    host=settings.host,
                    api_keys=settings.api_keys,
                    api_keys_file=settings.api_keys_file,
                    ontologies=parts.ontology_names(),
                ),
                DurableSender(engine),
                ready=engine.ping,
                observer=observer,
                clock=self._clock,
            )
            async with (
                _served(gateway_app, settings.host, settings.gateway_port) as gateway,
                _served(search_app, settings.host, settings.search_port) as search,
            ):
                yield EmbeddedUrls(gateway, search), engine.runner.crashed
        finally:
            await engine.close()

    async def run(self, stop: asyncio.Event, on_ready: Callable[[EmbeddedUrls], Any]) -> None:
        """Until `stop` is set. Raises what crashed the runner when it crashes."""
        async with self.running() as (urls, crashed):
            on_ready(urls)
            stopping = asyncio.create_task(stop.wait())
            waited: set[asyncio.Future[Any]] = {stopping, crashed}
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            stopping.cancel()
            if crashed.done():
                raise crashed.result()


@asynccontextmanager
async def _served(app: FastAPI, host: str, port: int) -> AsyncIterator[str]:
    listening = _listen(host, port)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, timeout_graceful_shutdown=STOP_SECONDS, lifespan="on"
    )
    server = _QuietServer(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        while not server.started:
            await asyncio.wait({serving}, timeout=0.01)
            if serving.done():
                await serving
                raise Retryable(f"the service on {host}:{port} ended while it started; its log says why")
        yield f"http://{host}:{listening.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=2048)
    except OSError as error:
        raise SettingError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; choose another port"
        ) from error


class _QuietServer(uvicorn.Server):
    """Leaves signals to the process, which has more to stop than this."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Captures none."""
        yield
