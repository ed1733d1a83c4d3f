"""The keyword arguments of searches: the fields of the HTTP request under the same names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict

from pydantic import BaseModel

Time = datetime | str
"""A time: ISO 8601 text, or a datetime (UTC when it has no zone)."""

Event = Mapping[str, Any] | BaseModel
"""An episode event of the contract: a mapping, or a model of `pipeline.model.event`."""


class SearchOptions(TypedDict, total=False):
    """Optional fields of a search. `as_of` left out is now, `as_of=None` is any time."""

    scopes: Sequence[str]
    recipe: str
    methods: Sequence[str]
    reranker: str
    limit: int
    as_of: Time | None
    known_at: Time | None
    filters: Mapping[str, Any] | BaseModel
    center: str
    bfs_origins: Sequence[str]
    bfs_depth: int
    mmr_lambda: float
    min_score: float
    wait_for: str
    wait_for_seconds: float


class ContextOptions(SearchOptions, total=False):
    """Optional fields of a context: those of a search, a budget, and whether facts are told with what they replaced."""

    max_tokens: int
    replaced: bool
