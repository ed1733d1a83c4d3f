"""Rows of Neo4j to the model, and the small conventions that writing and searching share.

A row is a map of fields as the queries project them; times are native datetimes, nested values are JSON text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from neo4j.time import DateTime
from pydantic import TypeAdapter

from pipeline.graph.search import StoredEpisode
from pipeline.model.community import Community
from pipeline.model.entity import Entity, SummaryLine
from pipeline.model.episode import Episode, EpisodeState, Usage
from pipeline.model.fact import Fact
from pipeline.model.provenance import Contribution, Told

UNBOUNDED_PAST = -(2**62)
UNBOUNDED_FUTURE = 2**62
# A range index refuses keys of more than about 8,000 bytes. A filter property of a vector index with more than 32,766
# bytes does worse: the commit fails while it is applied and the whole database stops until it is restarted.
# A character takes at most four bytes.
MAX_INDEXED_CHARACTERS = 1000

_TOLD = TypeAdapter(tuple[Told, ...])
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC, exact."""
    return (moment - _EPOCH) // _MICROSECOND


def index_key(text: str) -> str:
    """A text as it stands in a range index or as a filter of a vector index: itself, or its beginning and a hash when
    it is too long for one. Every text of an episode that is indexed whole goes through here."""
    if len(text) <= MAX_INDEXED_CHARACTERS:
        return text
    return f"{text[:100]}#{hashlib.sha256(text.encode()).hexdigest()}"


def scope_token(group_id: str) -> str:
    """The term that stands for a group in the full-text indexes; no term of a text looks like it."""
    return "g" + hashlib.sha256(group_id.encode()).hexdigest()[:24]


def tag(key: str, value: str | int | float | bool) -> str:
    """A pair of metadata as text that is equal exactly when key and JSON value are equal (1.0 is 1, true is not)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps([key, value], ensure_ascii=False, separators=(",", ":"))


def told_json(told: Iterable[Told]) -> str:
    """What an episode told of an entity, as JSON."""
    return _TOLD.dump_json(tuple(told)).decode()


def contribution(row: Mapping[str, Any]) -> Contribution:
    """From the fields episode, entity, place, at, told."""
    return Contribution(
        episode_id=row["episode"],
        entity_id=row["entity"],
        place=row["place"] or 0,
        at=moment(row["at"]),
        told=_TOLD.validate_json(row["told"] or "[]"),
    )


def moment(value: DateTime | datetime | int) -> datetime:
    """A native datetime of Neo4j, or microseconds since 1970, in UTC; nanoseconds are cut to microseconds."""
    if isinstance(value, int):
        return _EPOCH + value * _MICROSECOND
    found = value.to_native() if isinstance(value, DateTime) else value
    return found.astimezone(UTC)


def entity(row: Mapping[str, Any]) -> Entity:
    """From the fields id, group_id, name, type, aliases, keys, summary, description, lines, attributes, created_at,
    community."""
    return Entity(
        id=row["id"],
        group_id=row["group_id"],
        name=row["name"],
        type=row["type"],
        aliases=tuple(row["aliases"] or ()),
        keys=tuple(row["keys"] or ()),
        summary=row["summary"] or "",
        description=row["description"] or "",
        lines=tuple(SummaryLine(**line) for line in json.loads(row["lines"] or "[]")),
        attributes=json.loads(row["attributes"] or "{}"),
        created_at=moment(row["created_at"]),
        community_id=row["community"],
    )


def fact(row: Mapping[str, Any]) -> Fact:
    """From the field fact: the whole fact as JSON."""
    return Fact.model_validate_json(row["fact"])


def stored_episode(row: Mapping[str, Any]) -> StoredEpisode:
    """From the fields episode and usage (JSON), state, reason, created_at."""
    return StoredEpisode(
        episode=Episode.model_validate_json(row["episode"]),
        state=EpisodeState(row["state"]),
        usage=Usage.model_validate_json(row["usage"]),
        created_at=moment(row["created_at"]),
        reason=row["reason"],
    )


def community(row: Mapping[str, Any]) -> Community:
    """From the fields id, group_id, name, summary, created_at, members."""
    return Community(
        id=row["id"],
        group_id=row["group_id"],
        name=row["name"],
        summary=row["summary"] or "",
        created_at=moment(row["created_at"]),
        members=tuple(row["members"]),
    )
