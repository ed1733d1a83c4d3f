"""The worker's own pages: /healthz (the process), /readyz (whether it does its work, and if not, why), /metrics."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from starlette.responses import JSONResponse, Response

from streams.health.worker_health import Readiness


def worker_pages(readiness: Callable[[], Awaitable[Readiness]], registry: CollectorRegistry) -> FastAPI:
    """The application."""
    app = FastAPI(title="factstream worker", docs_url=None, redoc_url=None)

    @app.get("/healthz")
    async def healthz() -> dict[str, str]:
        """The process answers. No store, no broker is asked: a restart of this process would not mend those."""
        return {"status": "ok"}

    @app.get("/readyz")
    async def readyz() -> Response:
        """200, or 503 with the reasons."""
        found = await readiness()
        return JSONResponse(found.told(), 503 if found.reasons else 200)

    @app.get("/metrics")
    async def metrics() -> Response:
        """Prometheus metrics of this process."""
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return app
