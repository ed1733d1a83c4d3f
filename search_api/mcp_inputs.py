"""What agents may give to the tools: the fields of the HTTP contract, fewer of them, each with a word of explanation.

Models like to write null where they mean "left out". Here null is left out, in every field; any time, which the HTTP
contract writes as `as_of: null`, has a field of its own.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from search_api.lookups import EpisodesRead, Read, TimelineRead
from search_api.requests import ContextRequest, SearchRequest, field_error

ScopeName = Literal["facts", "entities", "episodes", "communities"]
Group = Annotated[
    StrictStr,
    Field(description="The group (tenant) to look in. Use the one you were given; groups cannot be listed."),
]
AsOf = Annotated[
    StrictStr | None,
    Field(
        description="Only facts that were true at this time, ISO 8601 such as 2024-03-01 or 2024-03-01T12:00Z."
    ),
]
KnownAt = Annotated[
    StrictStr | None,
    Field(description="Show what was believed at this time, ISO 8601. Left out: what is believed now."),
]


class ToolInput(BaseModel):
    """The arguments of a tool."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    @model_validator(mode="before")
    @classmethod
    def _null_is_left_out(cls, value: Any) -> Any:
        return {k: v for k, v in value.items() if v is not None} if isinstance(value, dict) else value

    @classmethod
    def schema_for_agents(cls) -> dict[str, Any]:
        """The JSON Schema without titles and without null, which nobody needs to send."""
        shown: dict[str, Any] = _simple(cls.model_json_schema())
        del shown["description"]
        return shown


class _Question(ToolInput):
    query: Annotated[
        StrictStr,
        Field(description="What you want to know, in plain words of any language; no query language."),
    ]
    group_ids: Annotated[
        tuple[StrictStr, ...],
        Field(description="The groups (tenants) to look in, usually one. Use those you were given."),
    ]
    scopes: Annotated[
        tuple[ScopeName, ...] | None,
        Field(
            description="What to look for: facts (statements with the time in which they hold), entities (people, "
            "things), episodes (the original messages and documents), communities (summaries of what belongs together)."
        ),
    ] = None
    as_of: AsOf = None
    any_time: Annotated[
        StrictBool, Field(description="Also facts that do not hold any more, or not yet: the whole history.")
    ] = False
    known_at: KnownAt = None
    relations: Annotated[
        tuple[StrictStr, ...] | None,
        Field(description='Only facts with these relations, such as "WORKS_AT".'),
    ] = None
    entity_types: Annotated[
        tuple[StrictStr, ...] | None,
        Field(description='Only about entities of these types, such as "Person".'),
    ] = None
    metadata: Annotated[
        dict[str, str | int | float | bool] | None,
        Field(description="Only what comes from episodes with all of these metadata values."),
    ] = None
    recipe: Annotated[
        StrictStr | None,
        Field(description="A named search configuration. Leave it out unless told otherwise."),
    ] = None
    limit: Annotated[StrictInt, Field(ge=1, le=100, description="At most so many results of each scope.")] = (
        10
    )
    wait_for: Annotated[
        StrictStr | None,
        Field(description="Id of an episode that was just published: wait until the memory has taken it in."),
    ] = None
    wait_for_seconds: Annotated[
        StrictFloat | StrictInt,
        Field(gt=0, le=30, description="How long to wait for it at most, in seconds."),
    ] = 5.0

    @model_validator(mode="after")
    def _one_time(self) -> Self:
        if self.any_time and self.as_of is not None:
            raise field_error("any_time", "cannot be combined with as_of")
        return self

    def _fields(self) -> dict[str, Any]:
        own = ("query", "group_ids", "scopes", "known_at", "recipe", "limit", "wait_for", "wait_for_seconds")
        given = {name: getattr(self, name) for name in own if getattr(self, name) is not None}
        filters = {name: getattr(self, name) for name in ("relations", "entity_types", "metadata")}
        filters = {name: value for name, value in filters.items() if value}
        if filters:
            given["filters"] = filters
        if self.as_of is not None or self.any_time:
            given["as_of"] = self.as_of
        return given


class SearchInput(_Question):
    """Arguments of `search`."""

    def request(self) -> SearchRequest:
        """As the service takes it. Raises ValidationError."""
        return SearchRequest.model_validate(self._fields())


class ContextInput(_Question):
    """Arguments of `context`."""

    max_tokens: Annotated[
        StrictInt, Field(ge=1, le=100_000, description="The text is at most about this long, in tokens.")
    ] = 2000
    replaced: Annotated[
        StrictBool,
        Field(description="Tell with each fact what it replaced: the former employer, address, plan."),
    ] = False

    def request(self) -> ContextRequest:
        """As the service takes it. Raises ValidationError."""
        asked = {"max_tokens": self.max_tokens, **({"replaced": True} if self.replaced else {})}
        return ContextRequest.model_validate({**self._fields(), **asked})


class EntityInput(ToolInput):
    """Arguments of `entity`."""

    group_id: Group
    entity_id: Annotated[
        StrictStr,
        Field(description="Id of the entity: `source.id` or `target.id` of a fact, or `id` of an entity."),
    ]
    known_at: KnownAt = None

    def query(self) -> Read:
        """As the service takes it. Raises ValidationError."""
        return Read.model_validate({"group_id": self.group_id, "known_at": self.known_at})


class TimelineInput(EntityInput):
    """Arguments of `timeline`."""

    as_of: AsOf = None

    def query(self) -> TimelineRead:
        """As the service takes it. Raises ValidationError."""
        fields = {"group_id": self.group_id, "known_at": self.known_at, "as_of": self.as_of}
        return TimelineRead.model_validate(fields)


class EpisodeInput(ToolInput):
    """Arguments of `episode`."""

    group_id: Group
    episode_id: Annotated[StrictStr, Field(description="Id of the episode, as in `episodes` of a fact.")]
    known_at: KnownAt = None

    def query(self) -> Read:
        """As the service takes it. Raises ValidationError."""
        return Read.model_validate({"group_id": self.group_id, "known_at": self.known_at})


class RecentEpisodesInput(ToolInput):
    """Arguments of `recent_episodes`."""

    group_id: Group
    thread_id: Annotated[StrictStr | None, Field(description="Only of this conversation.")] = None
    before: Annotated[
        StrictStr | None,
        Field(description="Only those that happened before this time, ISO 8601."),
    ] = None
    cursor: Annotated[
        StrictStr | None,
        Field(description="`next` of the answer before: to page back, without `before`."),
    ] = None
    limit: Annotated[StrictInt, Field(ge=1, le=100, description="At most so many.")] = 10

    def query(self) -> EpisodesRead:
        """As the service takes it. Raises ValidationError."""
        names = ("thread_id", "before", "cursor", "limit")
        given = {name: value for name in names if (value := getattr(self, name)) is not None}
        return EpisodesRead.model_validate(given)


def _simple(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_simple(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    shown = {
        key: {name: _simple(one) for name, one in value.items()} if key == "properties" else _simple(value)
        for key, value in schema.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }
    choices = [one for one in shown.get("anyOf", ()) if one != {"type": "null"}]
    if "anyOf" in shown:
        del shown["anyOf"]
        shown |= choices[0] if len(choices) == 1 else {"anyOf": choices}
    return shown
