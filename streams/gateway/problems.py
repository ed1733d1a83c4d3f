"""Refusals as RFC 9457 problem details."""

from __future__ import annotations

from collections.abc import Iterable
from http import HTTPStatus

import orjson
from starlette.responses import Response

MAX_ERRORS = 20


def problem(
    status: HTTPStatus,
    detail: str,
    errors: Iterable[tuple[str, str]] = (),
    headers: dict[str, str] | None = None,
) -> Response:
    """A response that says what is wrong and, for each field at fault, its path."""
    faults = [{"path": _clean(path), "message": _clean(text)} for path, text in list(errors)[:MAX_ERRORS]]
    body = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": _clean(detail)[:4000],
        "errors": faults,
    }
    return Response(orjson.dumps(body), status.value, headers, media_type="application/problem+json")


def _clean(text: str) -> str:
    """Without lone surrogates, which are no UTF-8."""
    return text.encode("utf-8", "replace").decode()
