"""From the bytes of a record to what a stage works on; what does not decode is Poison that says why."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import datetime
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from pipeline.errors import Poison
from pipeline.model.episode import Episode
from pipeline.model.event import parse_event, to_episode
from pipeline.timeline.partial import parse_partial
from streams.canary.group import canary_episode, is_canary
from streams.event import Event

SEQUENCE_HEADER = "factstream-sequence"
LOGGED_AT_HEADER = "factstream-logged-at"
"""On a replayed record: its place and time in the log when it was first sent, so that it takes its turn."""

M = TypeVar("M", bound=BaseModel)


def sequence_of(timestamp: datetime, offset: int) -> int:
    """The order of arrival as one 63-bit number: milliseconds of the broker's clock, then the offset (20 bits).

    The broker's clock leads, so that the order survives a change of the number of partitions.
    """
    return (round(timestamp.timestamp() * 1000) << 20) | (offset & 0xFFFFF)


def read_json(value: bytes | None) -> Any:
    """The JSON value of a record. Raises Poison for a tombstone and for what is no JSON."""
    if value is None:
        raise Poison("the record has no value")
    try:
        return json.loads(value, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Poison(f"the record is not JSON: {error}") from None


def read_episode(event: Event, ontologies: Collection[str] = ()) -> Episode:
    """A raw event as an episode. Raises Poison that names the field at fault."""
    raw = read_json(event.value)
    logged_at, sequence = event.timestamp, sequence_of(event.timestamp, event.offset)
    if (given := event.header(SEQUENCE_HEADER)) is not None:
        sequence = int(given)
    if (given := event.header(LOGGED_AT_HEADER)) is not None:
        logged_at = parse_partial(given.decode())[0]
    if is_canary(event):
        return canary_episode(raw, event.lane.decode(), logged_at=logged_at, sequence=sequence)
    parsed = parse_event(raw, ontologies=ontologies)
    if event.key != parsed.group_id.encode():
        raise Poison("the key of the record must be the group_id of the episode", "key")
    return to_episode(raw, parsed, logged_at=logged_at, sequence=sequence)


def read_model(kind: type[M], event: Event) -> M:
    """An event between the stages. Raises Poison when it is not one: then something else wrote to the topic."""
    if event.value is None:
        raise Poison("the record has no value")
    try:
        return kind.model_validate_json(event.value)
    except ValidationError as error:
        first = error.errors()[0]
        raise Poison(first["msg"], ".".join(map(str, first["loc"]))) from None


def names_of(event: Event) -> tuple[str, str] | None:
    """Group and episode of any of our records as far as they can be told, for the status of a dead one.

    None when the key says another group: a record must not speak of an episode that is not its own group's.
    """
    try:
        raw = read_json(event.value)
    except Poison:
        return None
    if not isinstance(raw, dict):
        return None
    if isinstance(raw.get("episode"), dict):
        raw = raw["episode"]
    group, episode = raw.get("group_id"), raw.get("id", raw.get("episode_id"))
    if not (isinstance(group, str) and isinstance(episode, str) and group and episode):
        return None
    return (group, episode) if event.lane == group.encode("utf-8", "surrogatepass") else None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
