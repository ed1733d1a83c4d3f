"""The read service as an ASGI application."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from fastapi import FastAPI
from starlette.routing import Route

from pipeline.access import check_exposure
from pipeline.clock import Clock, system_clock
from pipeline.embedding.port import Embedder
from pipeline.graph.search import GraphReader
from search_api import operations, reads, routes
from search_api.answering import Answering
from search_api.arrivals import Arrivals
from search_api.auth import KeyRing
from search_api.gate import Gate
from search_api.limits import Limits
from search_api.lookups import Lookups
from search_api.measured import Measured
from search_api.metrics import SearchMetrics
from search_api.opening import Opening
from search_api.paths import RawPaths
from search_api.problems import install
from search_api.retrieval.cross_encoder import CrossEncoder
from search_api.retrieval.search import Retrieval
from search_api.service import Service
from search_api.settings import ApiSettings
from search_api.turns import Turns

if TYPE_CHECKING:
    from search_api.mcp_mount import McpEndpoint

API_VERSION = "1"
MCP_PATH = "/mcp"


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
    check_exposure("search service", settings.host, settings.api_keys, settings.api_keys_file)
    metrics = metrics or SearchMetrics()
    opening = Opening(reader)
    turns = Turns(Gate(settings, metrics), settings.request_seconds, metrics)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await opening.start()
        try:
            async with AsyncExitStack() as stack:
                if agents is not None:
                    await stack.enter_async_context(agents.running())
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
    service = app.state.service = Service(
        settings=settings,
        reader=reader,
        answering=Answering(
            Retrieval(reader, embedder, cross_encoder, clock),
            Arrivals(reader, metrics, settings.max_awaiting),
            metrics,
        ),
        lookups=Lookups(reader),
        turns=turns,
        keys=KeyRing(settings.api_keys, settings.api_keys_file),
        metrics=metrics,
        opening=opening,
    )
    install(app, settings.retry_after_seconds)
    for router in (routes.router, reads.router, operations.router):
        app.include_router(router)
    agents = _agents(service)
    if agents is not None:
        app.router.routes.append(Route(MCP_PATH, endpoint=agents))
    # The one that is added last is the outermost.
    app.add_middleware(Limits, turns=turns, settings=settings, metrics=metrics)
    app.add_middleware(RawPaths)
    app.add_middleware(Measured, metrics=metrics)
    return app


def _agents(service: Service) -> McpEndpoint | None:
    """The MCP server, when its SDK is there."""
    if find_spec("mcp") is None:
        return None
    from search_api.mcp_mount import McpEndpoint

    return McpEndpoint(service, API_VERSION)
