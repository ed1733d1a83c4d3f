"""Between objects and columns: whole objects as JSON text, moments as microseconds, vectors as float32 bytes."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import numpy.typing as npt
from pydantic import TypeAdapter

from pipeline.errors import SettingError
from pipeline.model.community import Community
from pipeline.model.entity import Entity
from pipeline.model.fact import Belief, Fact
from pipeline.model.provenance import Told

UNBOUNDED_FROM = -(2**62)
UNBOUNDED_TO = 2**62
"""Stand for "no start" and "no end", so that a comparison of integers is all that an interval needs."""

_UNIT = 1e-6

_TOLD = TypeAdapter(tuple[Told, ...])
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)

Floats = npt.NDArray[np.float32]


def micros(moment: datetime) -> int:
    """Microseconds since 1970 in UTC; exact."""
    return (moment - _EPOCH) // _MICROSECOND


def moment(value: int) -> datetime:
    """The inverse of `micros`."""
    return _EPOCH + value * _MICROSECOND


def read_entity(body: str, community_id: str | None) -> Entity:
    """An entity; its community stands in a column, since another stage than the entity's own decides it."""
    return Entity.model_validate_json(body).model_copy(update={"community_id": community_id})


def read_community(body: str, members: Iterable[str]) -> Community:
    """A community; its members stand at the entities."""
    return Community.model_validate_json(body).model_copy(update={"members": tuple(members)})


def pack(vector: Sequence[float], dimension: int) -> bytes:
    """A vector as unit float32 bytes, so that a dot product is the cosine. SettingError for another dimension."""
    array = np.asarray(vector, dtype=np.float32)
    if array.shape != (dimension,):
        raise SettingError(f"an embedding has {array.size} dimensions, the graph is set up for {dimension}")
    length = float(np.linalg.norm(array))
    if abs(length - 1.0) < _UNIT:
        # As it is, so that a stored vector that is stored again is the same to the bit.
        return array.tobytes()
    return (array / np.float32(length) if length > 0 else array).tobytes()


def told_json(told: Iterable[Told]) -> str:
    """What an episode told of an entity, as JSON."""
    return _TOLD.dump_json(tuple(told)).decode()


def read_told(text: str) -> tuple[Told, ...]:
    """The inverse of `told_json`."""
    return _TOLD.validate_json(text)


def json_list(values: Iterable[str | int]) -> str:
    """A list as JSON, for `json_each` in a query."""
    return json.dumps(list(values))


def tag(value: str | int | float | bool) -> str:
    """A metadata value in one spelling per JSON value: 1 and 1.0 are one number, "1" and true are others."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value)


BeliefRow = tuple[int, int, int, int, int, int]


def belief_rows(fact: Fact) -> list[BeliefRow]:
    """Rows (place, known_from, known_to, holds, valid_from, valid_to) of a fact's beliefs.

    The last belief in the list that is known at a moment counts, so each one ends where the first of its
    successors begins.
    """
    rows: list[BeliefRow] = []
    known_to = UNBOUNDED_TO
    for place in range(len(fact.beliefs) - 1, -1, -1):
        belief = fact.beliefs[place]
        known_from = micros(belief.known_from)
        rows.append((place, known_from, known_to, int(belief.holds), *_interval(belief)))
        known_to = min(known_to, known_from)
    return rows[::-1]


def _interval(belief: Belief) -> tuple[int, int]:
    start = UNBOUNDED_FROM if belief.valid_at is None else micros(belief.valid_at)
    end = UNBOUNDED_TO if belief.invalid_at is None else micros(belief.invalid_at)
    return start, end


def support_rows(fact: Fact) -> list[tuple[int, str, int, int]]:
    """Rows (place, episode id, known_from, known_to) of what supports a fact."""
    return [
        (
            place,
            support.episode_id,
            micros(support.known_from),
            UNBOUNDED_TO if support.known_to is None else micros(support.known_to),
        )
        for place, support in enumerate(fact.support)
    ]
