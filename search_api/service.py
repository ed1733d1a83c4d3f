"""What the routes work with: one object per application, put together by `create_app`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, cast

from fastapi import Depends, Request

from pipeline.graph.search import GraphReader
from search_api.answering import Answering
from search_api.auth import Caller, KeyRing
from search_api.lookups import Lookups
from search_api.metrics import SearchMetrics
from search_api.opening import Opening
from search_api.settings import ApiSettings
from search_api.turns import TURN, Turn, Turns


@dataclass(frozen=True)
class Service:
    """The collaborators of the routes."""

    settings: ApiSettings
    reader: GraphReader
    answering: Answering
    lookups: Lookups
    turns: Turns
    keys: KeyRing
    metrics: SearchMetrics
    opening: Opening


def _service(request: Request) -> Service:
    return cast(Service, request.app.state.service)


def _open_service(service: Annotated[Service, Depends(_service)]) -> Service:
    service.opening.check()
    return service


def _turn(request: Request) -> Turn:
    return cast(Turn, request.scope[TURN])


def _caller(request: Request) -> Caller:
    return _service(request).keys.caller(request)


AnyService = Annotated[Service, Depends(_service)]
"""The service, whether or not its store is open."""

OpenService = Annotated[Service, Depends(_open_service)]
"""The service with its store open; Retryable while it is not."""

KnownCaller = Annotated[Caller, Depends(_caller)]
"""Who asks; a 401 problem when that is not known."""

OwnTurn = Annotated[Turn, Depends(_turn)]
"""The turn of the request."""
