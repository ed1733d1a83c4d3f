"""From records to episodes: what is Poison, and which place in the order an episode takes."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Poison
from streams.agents.decoding import (
    LOGGED_AT_HEADER,
    SEQUENCE_HEADER,
    names_of,
    read_episode,
    sequence_of,
)
from streams.event import Event

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
GOOD = {"id": "e1", "group_id": "g", "source": "text", "content": "Ana works at Acme."}


def record(
    value: object, key: bytes | None = b"g", headers: tuple[tuple[str, bytes], ...] = (), offset: int = 7
) -> Event:
    raw = value if isinstance(value, bytes) or value is None else json.dumps(value).encode()
    return Event("episodes", 0, offset, key, raw, AT, headers)


def test_what_the_producer_left_out_comes_from_the_record() -> None:
    episode = read_episode(record({k: v for k, v in GOOD.items() if k != "id"}))
    assert episode.reference_time == AT
    assert episode.id.startswith("ep-")
    assert episode.id == read_episode(record({k: v for k, v in GOOD.items() if k != "id"}, offset=9)).id
    assert episode.sequence == sequence_of(AT, 7)


@pytest.mark.parametrize(
    ("value", "key", "field"),
    [
        (None, b"g", ""),
        (b"\xff", b"g", ""),
        (b"NaN", b"g", ""),
        (GOOD, b"other", "key"),
        (GOOD, None, "key"),
        ({**GOOD, "colour": 1}, b"g", "colour"),
        ({**GOOD, "content": ["a"]}, b"g", "content"),
        ([GOOD], b"g", ""),
    ],
)
def test_what_breaks_the_contract_is_poison_that_names_the_field(
    value: object, key: bytes | None, field: str
) -> None:
    with pytest.raises(Poison) as caught:
        read_episode(record(value, key))
    assert caught.value.field == field


def test_a_replayed_record_takes_its_old_place() -> None:
    headers = ((SEQUENCE_HEADER, b"42"), (LOGGED_AT_HEADER, b"2025-01-01T00:00:00+00:00"))
    episode = read_episode(record({k: v for k, v in GOOD.items() if k != "id"}, headers=headers))
    assert episode.sequence == 42
    assert episode.reference_time == datetime(2025, 1, 1, tzinfo=UTC)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 2**19), st.integers(1, 1000))
def test_the_order_of_arrival_follows_the_broker_then_the_offset(
    ms: int, more: int, offset: int, step: int
) -> None:
    early, late = AT + timedelta(milliseconds=ms), AT + timedelta(milliseconds=ms + more + 1)
    assert sequence_of(early, offset) < sequence_of(late, 0)
    assert sequence_of(early, offset) < sequence_of(early, offset + step)
    assert sequence_of(late, offset) < 2**63


@given(st.one_of(st.none(), st.binary(), st.text().map(str.encode)))
def test_names_are_told_as_far_as_possible_and_nothing_raises(value: bytes | None) -> None:
    names_of(record(value))


def test_names_are_found_in_every_event_of_ours() -> None:
    assert names_of(record(GOOD)) == ("g", "e1")
    assert names_of(record({"episode": {"group_id": "g", "id": "e1"}, "extraction": {}})) == ("g", "e1")
    assert names_of(record({"group_id": "g", "episode_id": "e1"})) == ("g", "e1")
    assert names_of(record({"group_id": "g"})) is None


@pytest.mark.parametrize("group", ["other", "\ud800"])
def test_a_dead_record_speaks_of_no_other_groups_episodes(group: str) -> None:
    assert names_of(record({**GOOD, "group_id": group})) is None
