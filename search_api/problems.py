"""Errors as RFC 9457 problem details: what is wrong, and which field is at fault. Never a stack trace."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any, cast

import orjson
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ConfigDict
from starlette.exceptions import HTTPException
from starlette.responses import Response

from pipeline.errors import Poison, Retryable

MEDIA_TYPE = "application/problem+json"
MAX_ERRORS = 20
_MESSAGES = {
    "extra_forbidden": "there is no such field",
    "model_attributes_type": "must be a JSON object, sent with Content-Type: application/json",
}
_log = logging.getLogger(__name__)


class FieldProblem(BaseModel):
    """What is wrong with one field; `path` has dots, as in "filters.valid_at.0.gt"."""

    model_config = ConfigDict(frozen=True)

    path: str
    message: str


class Problem(BaseModel):
    """Problem details after RFC 9457; `type` is always about:blank, so `title` is the status in words."""

    model_config = ConfigDict(frozen=True)

    type: str = "about:blank"
    title: str
    status: int
    detail: str
    errors: tuple[FieldProblem, ...] = ()


class ProblemError(Exception):
    """Raised where a request cannot be answered; becomes the response of this status."""

    def __init__(
        self,
        status: HTTPStatus,
        detail: str,
        errors: Sequence[FieldProblem] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})


def not_found(what: str, item_id: str, group_id: str) -> ProblemError:
    """404 for an id that the group does not have, whether or not another group has it."""
    return ProblemError(HTTPStatus.NOT_FOUND, f"there is no {what} {item_id!r} in group {group_id!r}")


def invalid(errors: Iterable[FieldProblem]) -> ProblemError:
    """422 with every field at fault."""
    listed = tuple(errors)
    detail = "; ".join(f"{one.path}: {one.message}" if one.path else one.message for one in listed)
    return ProblemError(HTTPStatus.UNPROCESSABLE_ENTITY, detail, listed)


def unavailable(reason: str, retry_after_seconds: int) -> ProblemError:
    """503 with Retry-After."""
    headers = {"Retry-After": str(retry_after_seconds)}
    return ProblemError(HTTPStatus.SERVICE_UNAVAILABLE, reason, headers=headers)


def problem_response(problem: ProblemError) -> Response:
    """The response of a problem. Text that is no Unicode (half surrogate pairs) is shown with replacements."""
    shown = Problem(
        title=problem.status.phrase,
        status=problem.status.value,
        detail=_clean(problem.detail),
        errors=tuple(FieldProblem(path=_clean(e.path), message=_clean(e.message)) for e in problem.errors),
    )
    body = orjson.dumps(shown.model_dump())
    return Response(body, problem.status.value, problem.headers, media_type=MEDIA_TYPE)


def field_problems(errors: Iterable[Mapping[str, Any]], drop: int = 0) -> list[FieldProblem]:
    """What pydantic found, without the values, since those may be long or secret.

    `drop` parts are cut from the front of each path (FastAPI puts "body" or "query" there).
    """
    found = []
    for error in islice(errors, MAX_ERRORS):
        path = [str(part) for part in error["loc"]][drop:]
        context = error.get("ctx", {})
        if error["type"] == "field":
            path.append(str(context["path"]))
        message = str(error["msg"]).removeprefix("Value error, ")
        message = _MESSAGES.get(error["type"], message)
        found.append(FieldProblem(path=".".join(path), message=message))
    return found


def install(app: FastAPI, retry_after_seconds: int) -> None:
    """Make every error of the application a problem."""

    async def on_problem(_: Request, error: Exception) -> Response:
        return problem_response(cast(ProblemError, error))

    async def on_retryable(_: Request, error: Exception) -> Response:
        _log.warning("the store cannot answer: %s", error)
        return problem_response(unavailable(f"the store cannot answer now: {error}", retry_after_seconds))

    async def on_poison(_: Request, error: Exception) -> Response:
        poison = cast(Poison, error)
        return problem_response(invalid([FieldProblem(path=poison.field, message=poison.reason)]))

    async def on_invalid(_: Request, error: Exception) -> Response:
        errors = cast(RequestValidationError, error).errors()
        if any(one["type"] == "json_invalid" for one in errors):
            return problem_response(ProblemError(HTTPStatus.BAD_REQUEST, "the body is not JSON"))
        return problem_response(invalid(field_problems(errors, drop=1)))

    async def on_http(_: Request, error: Exception) -> Response:
        refused = cast(HTTPException, error)
        status = HTTPStatus(refused.status_code)
        return problem_response(ProblemError(status, str(refused.detail), headers=refused.headers))

    async def on_anything(_: Request, error: Exception) -> Response:
        _log.error("a request failed in an unexpected way", exc_info=error)
        detail = "something went wrong here; the log of the service says what"
        return problem_response(ProblemError(HTTPStatus.INTERNAL_SERVER_ERROR, detail))

    app.add_exception_handler(ProblemError, on_problem)
    app.add_exception_handler(Retryable, on_retryable)
    app.add_exception_handler(Poison, on_poison)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    app.add_exception_handler(Exception, on_anything)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")
