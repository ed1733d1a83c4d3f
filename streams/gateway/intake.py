"""From the body of a request to records for Kafka: all valid, or none."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.clock import Clock
from pipeline.errors import Poison
from pipeline.identity import content_id
from pipeline.model.event import InvalidEvent, parse_event
from pipeline.model.moments import iso

MAX_EVENTS = 1000


@dataclass(frozen=True)
class Record:
    """One validated event: its id and group, and the bytes for Kafka."""

    id: str
    group_id: str
    value: bytes


class NotJson(Poison):
    """A body that is no JSON."""


def read_body(body: bytes) -> tuple[list[Any], bool]:
    """The events of a body, and whether it was a list. Raises NotJson or InvalidEvent."""
    try:
        decoded = json.loads(body, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise NotJson(f"the body is not JSON: {error}") from None
    if not isinstance(decoded, list):
        return [decoded], False
    if not decoded:
        raise InvalidEvent([("", "the list of episodes is empty")])
    if len(decoded) > MAX_EVENTS:
        raise InvalidEvent(
            [("", f"the list has {len(decoded)} episodes; at most {MAX_EVENTS} are taken at once")]
        )
    return decoded, True


def records_of(body: bytes, clock: Clock, ontologies: Collection[str] = ()) -> list[Record]:
    """All events of a body as records, with ids and reference times filled in where they were left out.

    Raises NotJson, or InvalidEvent with the path of every field at fault; in a list it starts with the place of
    the event ("3.content.0.relation").
    """
    events, listed = read_body(body)
    records: list[Record] = []
    errors: list[tuple[str, str]] = []
    for place, raw in enumerate(events):
        try:
            records.append(to_record(raw, clock, ontologies))
        except InvalidEvent as error:
            errors += [
                (f"{place}.{path}".rstrip(".") if listed else path, text) for path, text in error.errors
            ]
    if errors:
        raise InvalidEvent(errors)
    return records


def to_record(raw: Any, clock: Clock, ontologies: Collection[str] = ()) -> Record:
    """One decoded event as a record. Raises InvalidEvent."""
    event = parse_event(raw, ontologies=ontologies)
    reference_time = iso(event.reference_time or clock())
    episode_id = event.id or content_id(event.group_id, raw["content"], reference_time)
    value = orjson.dumps({**raw, "id": episode_id, "reference_time": reference_time})
    return Record(episode_id, event.group_id, value)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
