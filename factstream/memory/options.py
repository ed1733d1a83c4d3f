"""The keyword arguments of searches: the fields of the HTTP request, by the same names and with the same rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeVar

from pydantic import ValidationError

from pipeline.errors import FactstreamError
from search_api.problems import field_problems
from search_api.requests import SearchRequest

R = TypeVar("R", bound=SearchRequest)

Time = datetime | str


class SearchOptions(TypedDict, total=False):
    """Optional fields of a search. `as_of` left out is now, `as_of=None` is any time."""

    scopes: Sequence[str]
    recipe: str
    methods: Sequence[str]
    reranker: str
    limit: int
    as_of: Time | None
    known_at: Time | None
    filters: Mapping[str, Any]
    center: str
    bfs_origins: Sequence[str]
    bfs_depth: int
    mmr_lambda: float
    min_score: float


class ContextOptions(SearchOptions, total=False):
    """Optional fields of a context: those of a search, a budget, and whether facts are told with what they replaced."""

    max_tokens: int
    replaced: bool


class InvalidRequest(FactstreamError, ValueError):
    """A search that breaks the contract; `errors` lists every fault as (path of the field, what is wrong)."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__("; ".join(f"{path}: {text}" if path else text for path, text in errors))
        self.errors = errors


def request_of(
    kind: type[R], query: str | None, group_ids: str | Sequence[str], options: Mapping[str, Any]
) -> R:
    """The validated request. Raises InvalidRequest."""
    groups = (group_ids,) if isinstance(group_ids, str) else group_ids
    try:
        return kind.model_validate({"query": query, "group_ids": groups, **options})
    except ValidationError as error:
        problems = field_problems(error.errors())
        raise InvalidRequest([(one.path, one.message) for one in problems]) from None
