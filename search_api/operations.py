"""The routes for operators: /healthz (the process), /readyz (the store and its indexes), /metrics. No key is needed."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from prometheus_client import CONTENT_TYPE_LATEST
from starlette.responses import Response

from pipeline.errors import Retryable
from search_api.answers import Health
from search_api.routes import answer, problems
from search_api.service import AnyService, OpenService

router = APIRouter(tags=["operations"])


@router.get("/healthz", response_model=Health)
async def healthz() -> Response:
    """That the process is up, and nothing else."""
    return answer(Health(status="ok"))


@router.get("/readyz", response_model=Health, responses=problems(503))
async def readyz(service: OpenService) -> Response:
    """That the store answers and its indexes are online."""
    limit = service.settings.ready_timeout_seconds
    try:
        async with asyncio.timeout(limit):
            await service.reader.ping()
    except TimeoutError:
        raise Retryable(f"no answer within {limit:g} s") from None
    return answer(Health(status="ready"))


@router.get("/metrics", response_class=Response)
async def metrics(service: AnyService) -> Response:
    """Metrics in Prometheus' text format."""
    return Response(service.metrics.exposition(), headers={"Content-Type": CONTENT_TYPE_LATEST})
