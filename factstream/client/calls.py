"""Calls: what is sent for each question and how the answer is read. Knows no network, so that both clients share it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar
from urllib.parse import quote

from pydantic import BaseModel, ValidationError

from factstream.client.errors import BadAnswer, api_error
from factstream.client.options import Time
from pipeline.model.moments import iso
from search_api.answers import (
    CommunityAnswer,
    ContextAnswer,
    EntityAnswer,
    EpisodeAnswer,
    EpisodeList,
    FactAnswer,
    FactList,
    RecipeList,
    SearchAnswer,
)
from search_api.problems import Problem

M = TypeVar("M", bound=BaseModel)


class Accepted(BaseModel):
    """What the gateway answers."""

    ids: tuple[str, ...]


@dataclass(frozen=True)
class Call(Generic[M]):
    """One request. `path` is percent-encoded; `gateway` says which of the two services it is for."""

    method: str
    path: str
    gives: type[M]
    params: Mapping[str, str]
    body: bytes | None = None
    gateway: bool = False

    def read(self, status: int, content: bytes) -> M:
        """The answer. Raises ApiError for a problem, BadAnswer for what cannot be read."""
        if status >= 400:
            raise api_error(_problem(status, content))
        try:
            return self.gives.model_validate_json(content)
        except ValidationError as error:
            raise BadAnswer(f"the answer to {self.method} {self.path} cannot be read: {error}") from None


def publish(events: Sequence[bytes]) -> Call[Accepted]:
    """Publishes encoded events."""
    return Call("POST", "/v1/episodes", Accepted, {}, b"[" + b",".join(events) + b"]", gateway=True)


def search(
    query: str | None, group_ids: str | Sequence[str], options: Mapping[str, Any]
) -> Call[SearchAnswer]:
    """Searches."""
    return Call("POST", "/v1/search", SearchAnswer, {}, _question(query, group_ids, options))


def context(
    query: str | None, group_ids: str | Sequence[str], options: Mapping[str, Any]
) -> Call[ContextAnswer]:
    """Asks for a text."""
    return Call("POST", "/v1/context", ContextAnswer, {}, _question(query, group_ids, options))


def recipes() -> Call[RecipeList]:
    """Lists the recipes."""
    return Call("GET", "/v1/recipes", RecipeList, {})


def episode(episode_id: str, group_id: str, known_at: Time | None) -> Call[EpisodeAnswer]:
    """Reads an episode."""
    return Call(
        "GET", _path("episodes", episode_id), EpisodeAnswer, _params(group_id=group_id, known_at=known_at)
    )


def episodes(
    group_id: str, before: Time | None, cursor: str | None, limit: int, thread_id: str | None
) -> Call[EpisodeList]:
    """Lists episodes."""
    params = _params(before=before, cursor=cursor, limit=limit, thread_id=thread_id)
    return Call("GET", _path("groups", group_id, "episodes"), EpisodeList, params)


def fact(fact_id: str, group_id: str, known_at: Time | None) -> Call[FactAnswer]:
    """Reads a fact."""
    return Call("GET", _path("facts", fact_id), FactAnswer, _params(group_id=group_id, known_at=known_at))


def entity(entity_id: str, group_id: str, known_at: Time | None) -> Call[EntityAnswer]:
    """Reads an entity."""
    return Call(
        "GET", _path("entities", entity_id), EntityAnswer, _params(group_id=group_id, known_at=known_at)
    )


def timeline(entity_id: str, group_id: str, as_of: Time | None, known_at: Time | None) -> Call[FactList]:
    """Reads a timeline."""
    params = _params(group_id=group_id, as_of=as_of, known_at=known_at)
    return Call("GET", _path("entities", entity_id, "facts"), FactList, params)


def community(community_id: str, group_id: str, known_at: Time | None) -> Call[CommunityAnswer]:
    """Reads a community."""
    params = _params(group_id=group_id, known_at=known_at)
    return Call("GET", _path("communities", community_id), CommunityAnswer, params)


def as_json(value: Any) -> bytes:
    """The bytes to send: times and models in the form of the contract. Raises TypeError or ValueError for others."""
    # A half surrogate pair is no UTF-8; escaped as JSON allows, it reaches the service, which names the field.
    return json.dumps(value, default=_plain, allow_nan=False).encode("ascii")


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return iso(value)
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", exclude_unset=True)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(f"{type(value).__name__} cannot be sent as JSON")


def _question(query: str | None, group_ids: str | Sequence[str], options: Mapping[str, Any]) -> bytes:
    groups = [group_ids] if isinstance(group_ids, str) else list(group_ids)
    asked = {} if query is None else {"query": query}
    return as_json({**asked, "group_ids": groups, **options})


def _path(*parts: str) -> str:
    return "/v1/" + "/".join(quote(part, safe="", errors="surrogatepass") for part in parts)


def _params(**given: Time | int | None) -> dict[str, str]:
    return {
        name: iso(value) if isinstance(value, datetime) else str(value)
        for name, value in given.items()
        if value is not None
    }


def _problem(status: int, content: bytes) -> Problem:
    try:
        return Problem.model_validate_json(content)
    except ValidationError:
        text = content[:500].decode("utf-8", "replace").strip()
        return Problem(title="unexpected answer", status=status, detail=text or "without a text")
