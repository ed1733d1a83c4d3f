"""Paths with ids in them: routed by their raw segments, so that an encoded slash stays part of an id.

Servers decode a path before it is routed, and "/v1/facts/a%2Fb" would have a segment too many. Here the path that is
routed is the raw one, each segment decoded and encoded again in one canonical way; handlers decode their own.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated
from urllib.parse import quote, unquote_to_bytes

from fastapi import Path
from pydantic import AfterValidator
from starlette.types import ASGIApp, Receive, Scope, Send

from search_api.problems import ProblemError, problem_response


def decode_segment(segment: str) -> str:
    """The text of a percent-encoded segment. Raises ValueError when it is not UTF-8."""
    return unquote_to_bytes(segment).decode("utf-8")


def canonical_path(raw_path: bytes) -> str:
    """The path with every segment encoded in the same way. Raises ValueError when a segment is not UTF-8."""
    return "/".join(quote(decode_segment(part), safe="") for part in raw_path.decode("latin-1").split("/"))


class RawPaths:
    """ASGI middleware: puts the canonical raw path where routes look for it; 400 when it is not UTF-8."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection."""
        if scope["type"] == "http":
            # Servers need not give the raw path; without it an encoded slash cannot be told from a plain one.
            raw_path = scope.get("raw_path") or quote(scope["path"]).encode()
            try:
                scope["path"] = canonical_path(raw_path)
            except ValueError:
                problem = ProblemError(HTTPStatus.BAD_REQUEST, "the path is not percent-encoded UTF-8")
                await problem_response(problem)(scope, receive, send)
                return
        await self._app(scope, receive, send)


PathId = Annotated[str, Path(description="Percent-encoded, `/` included."), AfterValidator(decode_segment)]
