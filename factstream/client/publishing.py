"""From events to requests for the gateway: ids derived before the first try, so that every try means the same episode."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, TypeAdapter, ValidationError

from factstream.client.calls import as_json
from factstream.client.options import Event
from pipeline.identity import content_id
from pipeline.model.moments import Moment, iso

MAX_EVENTS = 500
MAX_BYTES = 4 * 1024 * 1024
_moment: TypeAdapter[datetime] = TypeAdapter(Moment)


def batches(events: Event | Iterable[Event], now: datetime | None = None) -> Iterator[list[bytes]]:
    """The events, encoded, in requests of at most 500 events or about 4 MiB.

    An event without an id gets the one that the gateway would derive; without a reference time it happens `now`.
    What is wrong with an event is left to the gateway, which names the field.
    """
    given = [events] if isinstance(events, (Mapping, BaseModel)) else events
    batch: list[bytes] = []
    size = 0
    for event in given:
        encoded = _encoded(event, now or datetime.now(UTC))
        if batch and (len(batch) == MAX_EVENTS or size + len(encoded) > MAX_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(encoded)
        size += len(encoded)
    if batch:
        yield batch


def _encoded(event: Event, now: datetime) -> bytes:
    encoded = as_json(event)
    raw = json.loads(encoded)
    if not isinstance(raw, dict) or raw.get("id") is not None:
        return encoded
    return as_json({**raw, **_derived(raw, now)})


def _derived(raw: dict[str, Any], now: datetime) -> dict[str, str]:
    try:
        moment = _moment.validate_python(now if raw.get("reference_time") is None else raw["reference_time"])
        time = iso(moment)
        return {"id": content_id(raw["group_id"], raw["content"], time), "reference_time": time}
    except (ValidationError, KeyError, UnicodeEncodeError):
        return {}
