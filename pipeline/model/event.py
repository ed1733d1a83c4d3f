"""The episode event of the contract, as producers send it: validated, with every error naming its field."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Collection, Mapping
from datetime import datetime
from typing import Annotated, Any, Literal

import orjson
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StrictStr,
    ValidationError,
    model_validator,
)

from pipeline.errors import Poison
from pipeline.identity import content_id, entity_key
from pipeline.model.episode import Episode, Source, Speaker
from pipeline.model.extraction import Cardinality
from pipeline.model.moments import Moment, iso
from pipeline.timeline.partial import parse_partial

MAX_CONTENT_BYTES = 1024 * 1024


def _plain(value: str) -> str:
    if any(unicodedata.category(c) in ("Cc", "Cs") for c in value):
        raise ValueError("must not contain control characters")
    return value


def _visible(value: str) -> str:
    if not entity_key(value):
        raise ValueError("must contain at least one visible character")
    return value


def _partial(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("must be a time as text, such as 2024-03-01T12:00:00Z, 2024-03 or 2024")
    parse_partial(value)
    return value


GroupId = Annotated[StrictStr, Field(min_length=1, max_length=128), AfterValidator(_plain)]
EpisodeId = Annotated[StrictStr, Field(min_length=1, max_length=200)]
Name = Annotated[StrictStr, Field(min_length=1, max_length=1000), AfterValidator(_visible)]
PartialTime = Annotated[str, BeforeValidator(_partial)]


def _scalar(value: Any) -> Any:
    if isinstance(value, (bool, int, str)) or (isinstance(value, float) and math.isfinite(value)):
        return value
    raise ValueError("must be a string, a number or a boolean")


Scalar = Annotated[Any, BeforeValidator(_scalar)]


class _Input(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class TripleEntity(_Input):
    """One end of a triple."""

    name: Name
    type: Annotated[StrictStr, Field(min_length=1, max_length=200), AfterValidator(_visible)] | None = None
    attributes: dict[StrictStr, Any] | None = None


class Triple(_Input):
    """A fact that is already structured."""

    subject: TripleEntity
    relation: Annotated[StrictStr, Field(min_length=1, max_length=200), AfterValidator(_visible)]
    object: TripleEntity
    fact: Annotated[StrictStr, Field(min_length=1)] | None = None
    valid_at: PartialTime | None = None
    invalid_at: PartialTime | None = None
    cardinality: Cardinality | None = None
    attributes: dict[StrictStr, Any] | None = None

    @model_validator(mode="after")
    def _ends_after_it_starts(self) -> Triple:
        if (
            self.valid_at
            and self.invalid_at
            and parse_partial(self.invalid_at)[0] <= parse_partial(self.valid_at)[0]
        ):
            raise ValueError("invalid_at must be later than valid_at")
        return self


class SpeakerInput(_Input):
    """Who says a message."""

    name: Name
    role: Literal["user", "assistant", "system", "tool"] | None = None


class _Event(_Input):
    id: EpisodeId | None = None
    group_id: GroupId
    reference_time: Moment | None = None
    source_description: StrictStr | None = None
    thread_id: StrictStr | None = None
    metadata: dict[StrictStr, Scalar] = {}
    ontology: Annotated[StrictStr, Field(min_length=1, max_length=200)] | None = None


class MessageEvent(_Event):
    """One chat message, or several lines that each name their speaker."""

    source: Literal["message"]
    content: Annotated[StrictStr, Field(min_length=1)]
    speaker: SpeakerInput | None = None


class TextEvent(_Event):
    """A document or note."""

    source: Literal["text"]
    content: Annotated[StrictStr, Field(min_length=1)]


class JsonEvent(_Event):
    """Any JSON record."""

    source: Literal["json"]
    content: Any


class TriplesEvent(_Event):
    """Facts that are already structured; no model is asked."""

    source: Literal["triples"]
    content: Annotated[list[Triple], Field(min_length=1)]


EpisodeEvent = MessageEvent | TextEvent | JsonEvent | TriplesEvent
_KINDS: dict[str, type[EpisodeEvent]] = {
    "message": MessageEvent,
    "text": TextEvent,
    "json": JsonEvent,
    "triples": TriplesEvent,
}


class InvalidEvent(Poison):
    """An event that breaks the contract; `errors` lists every fault as (path of the field, what is wrong)."""

    def __init__(self, errors: list[tuple[str, str]]) -> None:
        super().__init__(
            "; ".join(f"{path}: {text}" if i else text for i, (path, text) in enumerate(errors)), errors[0][0]
        )
        self.errors = errors


def parse_event(raw: object, *, ontologies: Collection[str] = ()) -> EpisodeEvent:
    """Validate a decoded event.

    Args:
        raw: the decoded JSON value.
        ontologies: the names that an event's `ontology` may have.

    Raises:
        InvalidEvent: it names the path of each field at fault ("content.0.valid_at").
    """
    if not isinstance(raw, Mapping):
        raise InvalidEvent([("", "an episode must be a JSON object")])
    source = raw.get("source")
    kind = _KINDS.get(source) if isinstance(source, str) else None
    if kind is None:
        told = "is required" if "source" not in raw else "is not known"
        raise InvalidEvent([("source", f"{told}: it must be one of message, text, json, triples")])
    if "content" in raw:
        _check_size(raw["content"])
    if source == "json" and "content" not in raw:
        raise InvalidEvent([("content", "Field required")])
    try:
        event = kind.model_validate(dict(raw))
    except ValidationError as error:
        raise InvalidEvent([_fault(e["loc"], e["msg"], str(e["type"])) for e in error.errors()]) from None
    if event.ontology is not None and event.ontology not in ontologies:
        raise InvalidEvent(
            [("ontology", f"no ontology is configured under the name {event.ontology[:80]!r}")]
        )
    _check_encodable(event)
    return event


def to_episode(raw: Mapping[str, Any], event: EpisodeEvent, *, logged_at: datetime, sequence: int) -> Episode:
    """The episode of a validated event: ids and reference time filled in, content exactly as it was sent.

    Args:
        raw: the decoded event itself; its `content` is kept letter for letter.
        event: the same, validated.
        logged_at: the record's time in the log; the reference time when the event has none.
        sequence: the order of arrival in the group.
    """
    reference_time = event.reference_time or logged_at
    return Episode(
        id=event.id or content_id(event.group_id, raw["content"], iso(reference_time)),
        group_id=event.group_id,
        source=Source(event.source),
        content=raw["content"],
        reference_time=reference_time,
        sequence=sequence,
        speaker=Speaker(name=event.speaker.name, role=event.speaker.role)
        if isinstance(event, MessageEvent) and event.speaker
        else None,
        source_description=event.source_description,
        thread_id=event.thread_id,
        metadata=event.metadata,
        ontology=event.ontology,
    )


def _check_size(content: object) -> None:
    try:
        size = len(orjson.dumps(content))
    except orjson.JSONEncodeError as error:
        raise InvalidEvent([("content", f"cannot be written as JSON: {error}")]) from None
    if size > MAX_CONTENT_BYTES:
        raise InvalidEvent([("content", f"is {size} bytes encoded; at most {MAX_CONTENT_BYTES} are allowed")])


def _check_encodable(event: EpisodeEvent) -> None:
    for name in ("id", "source_description", "thread_id", "metadata"):
        try:
            orjson.dumps(getattr(event, name))
        except orjson.JSONEncodeError as error:
            raise InvalidEvent([(name, f"cannot be written as JSON: {error}")]) from None


def _fault(loc: tuple[int | str, ...], message: str, kind: str) -> tuple[str, str]:
    if kind == "extra_forbidden":
        message = "is not a field of this object"
    path = ".".join(str(part) for part in loc)
    if "must be later than valid_at" in message:
        path = f"{path}.invalid_at" if path else "invalid_at"
    return path, message.removeprefix("Value error, ")
