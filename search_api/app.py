"""The read service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from pipeline.access import check_exposure
from pipeline.clock import Clock, system_clock
from pipeline.embedding.port import Embedder
from pipeline.graph.search import GraphReader
from search_api import operations, reads, routes
from search_api.auth import KeyRing
from search_api.limits import Gate, Limits
from search_api.measured import Measured
from search_api.metrics import SearchMetrics
from search_api.opening import Opening
from search_api.paths import RawPaths
from search_api.problems import install
from search_api.retrieval.cross_encoder import CrossEncoder
from search_api.retrieval.search import Retrieval
from search_api.service import Service
from search_api.settings import ApiSettings

API_VERSION = "1"


def create_app(
    settings: ApiSettings,
    reader: GraphReader,
    embedder: Embedder | None = None,
    cross_encoder: CrossEncoder | None = None,
    clock: Clock = system_clock,
    metrics: SearchMetrics | None = None,
) -> FastAPI:
    """Put the service together.

    The application opens `reader` at its start, keeps trying while the store is down, and closes it and
    `cross_encoder` at its end; the embedder belongs to the caller. Without an embedder or a cross-encoder searches
    do without and say so in `degraded`. To have the reader's round trips in the metrics, make the `SearchMetrics`
    first and give the reader a `MetricsObserver` of it.

    Raises SettingError when the keys are malformed, or when there are none and `settings.host` is no loopback address.
    """
    check_exposure("search service", settings.host, settings.api_keys)
    metrics = metrics or SearchMetrics()
    opening = Opening(reader)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await opening.start()
        try:
            yield
        finally:
            await opening.stop()
            if cross_encoder is not None:
                await cross_encoder.close()

    app = FastAPI(
        title="factstream search",
        summary="Answers from a bi-temporal knowledge graph.",
        version=API_VERSION,
        lifespan=lifespan,
        redirect_slashes=False,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = Service(
        settings=settings,
        reader=reader,
        retrieval=Retrieval(reader, embedder, cross_encoder, clock),
        keys=KeyRing(settings.api_keys),
        metrics=metrics,
        opening=opening,
    )
    install(app, settings.retry_after_seconds)
    for router in (routes.router, reads.router, operations.router):
        app.include_router(router)
    # The one that is added last is the outermost.
    app.add_middleware(Limits, gate=Gate(settings, metrics), settings=settings, metrics=metrics)
    app.add_middleware(RawPaths)
    app.add_middleware(Measured, metrics=metrics)
    return app
