"""What a client raises: the problem details of the service, by what the caller can do about them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.errors import FactstreamError
from search_api.answers import EpisodeAnswer
from search_api.problems import FieldProblem, Problem


class ClientError(FactstreamError):
    """Base of everything that the clients raise."""


class Unreachable(ClientError):
    """The service does not answer at all, or not in time; the request was repeated as long as allowed."""


class BadAnswer(ClientError):
    """What answers is no factstream, or one of another version."""


class ApiError(ClientError):
    """The service refused. `problem` is its answer; `status`, `detail` and `errors` (by field) are of it."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.status} {problem.title}: {problem.detail}")
        self.problem = problem
        self.status = problem.status
        self.detail = problem.detail
        self.errors: Sequence[FieldProblem] = problem.errors


class Invalid(ApiError):
    """400, 413, 422: the request breaks the contract; `errors` names each field at fault."""


class Unauthorized(ApiError):
    """401: no key, or one that is not known."""


class Forbidden(ApiError):
    """403: the key is not for that group."""


class NotFound(ApiError):
    """404: the group has nothing of that id."""


class Unavailable(ApiError):
    """503, 504: busy, too slow, or its store or Kafka is down; the request was repeated as long as allowed."""


class NotSettled(ClientError):
    """Episodes that were waited for are still on their way; `pending` are their ids."""

    def __init__(self, pending: Sequence[str], seconds: float) -> None:
        shown = ", ".join(map(repr, pending[:5])) + (", …" if len(pending) > 5 else "")
        super().__init__(f"{len(pending)} episodes are not through after {seconds:g} s: {shown}")
        self.pending = tuple(pending)


class EpisodesFailed(ClientError):
    """Episodes that were waited for are dead; `episodes` are their answers, each with its `reason`."""

    def __init__(self, episodes: Sequence[EpisodeAnswer]) -> None:
        first = episodes[0]
        super().__init__(f"{len(episodes)} episodes are dead; {first.id!r}: {first.reason}")
        self.episodes = tuple(episodes)


_BY_STATUS: dict[int, type[ApiError]] = {
    400: Invalid,
    401: Unauthorized,
    403: Forbidden,
    404: NotFound,
    413: Invalid,
    422: Invalid,
    503: Unavailable,
    504: Unavailable,
}


def api_error(problem: Problem) -> ApiError:
    """The exception of a problem."""
    return _BY_STATUS.get(problem.status, ApiError)(problem)
