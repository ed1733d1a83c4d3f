"""What callers may ask: the search request, field by field. Unknown fields are refused by name."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Annotated, Any, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictBool,
    StrictStr,
    model_validator,
)
from pydantic_core import PydanticCustomError

from pipeline.graph.search import Filters, Method, Scope, TimeRange
from pipeline.model.event import EpisodeId, GroupId, Scalar
from pipeline.model.moments import Moment
from search_api.arrivals import Awaited
from search_api.recipes import DEFAULT_RECIPE, MEMORY_RECIPE, RECIPES, Recipe, Reranker

MAX_GROUPS = 1000
MAX_ORIGINS = 100
MAX_WAIT_SECONDS = 30.0
_STORED_INTEGERS = range(-(2**63), 2**63)


def field_error(path: str, message: str) -> PydanticCustomError:
    """An error of the whole object that is to be reported at one field; `path` has dots."""
    return PydanticCustomError("field", "{message}", {"message": message, "path": path})


def _readable(value: Any) -> Any:
    """Half of a surrogate pair is no character: it becomes U+FFFD, as if it had been read with errors replaced."""
    if not isinstance(value, str):
        return value
    return "".join("\ufffd" if unicodedata.category(c) == "Cs" else c for c in value)


def _storable(value: Any) -> Any:
    if isinstance(value, int) and value not in _STORED_INTEGERS:
        raise ValueError("must fit into 64 bits")
    return value


def _recipe(value: str) -> str:
    if value not in RECIPES:
        raise ValueError(f"no such recipe; there are {', '.join(RECIPES)}")
    return value


def _distinct(values: tuple[Any, ...]) -> tuple[Any, ...]:
    # Not min_length: pydantic counts the valid items only, and would report an empty list beside a wrong item.
    if not values:
        raise ValueError("needs at least one")
    return tuple(dict.fromkeys(values))


Query = Annotated[StrictStr, BeforeValidator(_readable)]
ItemId = Annotated[StrictStr, Field(min_length=1, max_length=1000)]
Word = Annotated[StrictStr, Field(min_length=1, max_length=1000)]
MetadataValue = Annotated[Scalar, AfterValidator(_storable)]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RangeInput(_Input):
    """Bounds of a time, all of which must hold. At least one is needed."""

    gte: Moment | None = None
    gt: Moment | None = None
    lte: Moment | None = None
    lt: Moment | None = None

    @model_validator(mode="after")
    def _has_a_bound(self) -> Self:
        if not any((self.gte, self.gt, self.lte, self.lt)):
            raise ValueError("needs at least one of gte, gt, lte, lt")
        return self

    @property
    def range(self) -> TimeRange:
        """As the store takes it."""
        return TimeRange(gte=self.gte, gt=self.gt, lte=self.lte, lt=self.lt)


class FiltersInput(_Input):
    """Hard conditions: fields are AND, a list of ranges is OR, `metadata` must match whole on one episode."""

    entity_types: tuple[Word, ...] | None = None
    relations: tuple[Word, ...] | None = None
    metadata: dict[StrictStr, MetadataValue] | None = None
    valid_at: tuple[RangeInput, ...] | None = None
    invalid_at: tuple[RangeInput, ...] | None = None
    created_at: tuple[RangeInput, ...] | None = None

    @property
    def filters(self) -> Filters:
        """As the store takes it."""
        return Filters(
            entity_types=self.entity_types or (),
            relations=self.relations or (),
            metadata=self.metadata or {},
            valid_at=tuple(one.range for one in self.valid_at or ()),
            invalid_at=tuple(one.range for one in self.invalid_at or ()),
            created_at=tuple(one.range for one in self.created_at or ()),
        )


class SearchRequest(_Input):
    """A search. See the contract for every field; the defaults of `methods` and `reranker` are the recipe's.

    `as_of` left out is now, `as_of` null is any time. With `center` and no word on the order, the order is by
    distance from it. With `bfs_origins` and no word on the methods, breadth-first is added to the recipe's.

    `min_score` is on the scale of the order's own `score`: for rrf 1 is first by every method, for score and memory 1
    is best by every method; for mmr what the item
    was worth when it was picked; for episode_mentions the number of episodes; for node_distance 1 / (1 + steps), 0
    when not connected; for cross_encoder the model's.

    `wait_for` is an episode of the one group of the request: the search waits for it to be committed, skipped or dead,
    at most `wait_for_seconds`, and says in `degraded` when the answer may be without it.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "Where does Ana work?", "group_ids": ["acme"]},
                {
                    "query": "contract",
                    "group_ids": ["acme"],
                    "scopes": ["facts", "entities"],
                    "as_of": "2024-03-01T00:00:00Z",
                    "filters": {"relations": ["SIGNED"], "metadata": {"channel": "mail"}},
                    "limit": 5,
                },
            ]
        }
    )

    query: Query | None = None
    group_ids: Annotated[tuple[GroupId, ...], Field(max_length=MAX_GROUPS), AfterValidator(_distinct)]
    scopes: Annotated[tuple[Scope, ...], AfterValidator(_distinct)] | None = None
    recipe: Annotated[StrictStr, AfterValidator(_recipe)] = DEFAULT_RECIPE
    methods: Annotated[tuple[Method, ...], AfterValidator(_distinct)] | None = None
    reranker: Reranker | None = None
    limit: Annotated[int, Field(strict=True, ge=1, le=100)] = 10
    as_of: Moment | None = None
    known_at: Moment | None = None
    filters: FiltersInput | None = None
    center: ItemId | None = None
    bfs_origins: Annotated[tuple[ItemId, ...], Field(max_length=MAX_ORIGINS)] | None = None
    bfs_depth: Annotated[int, Field(strict=True, ge=1, le=3)] | None = None
    mmr_lambda: Annotated[float, Field(strict=True, ge=0, le=1, allow_inf_nan=False)] = 0.5
    min_score: Annotated[float, Field(strict=True, allow_inf_nan=False)] | None = None
    wait_for: EpisodeId | None = None
    wait_for_seconds: Annotated[float, Field(strict=True, gt=0, le=MAX_WAIT_SECONDS, allow_inf_nan=False)] = (
        5.0
    )

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if self.query is None and not self.bfs_origins and self.center is None:
            raise field_error("query", "required unless bfs_origins or center is given")
        if self.order is Reranker.node_distance and self.center is None:
            raise field_error("center", "required to order by node_distance")
        if self.wait_for is not None and len(self.group_ids) > 1:
            raise field_error("wait_for", "needs exactly one group, the one that the episode is in")
        return self

    @property
    def awaited(self) -> Awaited | None:
        """The episode that the search waits for."""
        if self.wait_for is None:
            return None
        return Awaited(self.group_ids[0], self.wait_for, self.wait_for_seconds)

    @property
    def named_recipe(self) -> Recipe:
        """The recipe that the request stands on."""
        return RECIPES[self.recipe]

    @property
    def order(self) -> Reranker:
        """The reranker: the request's; else by distance when only a centre is given; else the recipe's."""
        if self.reranker is not None:
            return self.reranker
        if self.center is not None and "recipe" not in self.model_fields_set:
            return Reranker.node_distance
        return self.named_recipe.reranker

    def moment(self, now: datetime) -> datetime | None:
        """The time at which facts must hold; None is any time."""
        return self.as_of if "as_of" in self.model_fields_set else now


class ContextRequest(SearchRequest):
    """A search whose answer is a text for a prompt, at most `max_tokens` long.

    With `replaced`, each fact of which there is one at a time is told with what held before it.
    """

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [{"query": "Where does Ana work?", "group_ids": ["acme"], "max_tokens": 1000}]
        }
    )

    recipe: Annotated[StrictStr, AfterValidator(_recipe)] = MEMORY_RECIPE
    max_tokens: Annotated[int, Field(strict=True, ge=1, le=1_000_000)] = 4000
    replaced: StrictBool = False
