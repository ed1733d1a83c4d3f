"""Dead letters keep the event whole, whatever it was, and say why."""

from __future__ import annotations

import base64
from dataclasses import replace
from datetime import UTC, datetime

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import Poison
from streams.dead_letters import DeadLetters, dead_letter
from streams.failure import Failure
from streams.topics import DEAD, EPISODES, stage_key

AT = datetime(2026, 2, 3, 4, 5, 6, tzinfo=UTC)


def test_the_original_is_kept_byte_for_byte(make_event):
    value = b'{ "id": "e1",  "n": 123456789012345678901234567890, "id": "twice" }'
    letter = dead_letter(
        replace(make_event(7), value=value), Failure("extract", "admit", 1, Poison("bad", "a.0")), AT
    )
    assert b'"event":' + value in letter
    assert {k: v for k, v in orjson.loads(letter).items() if k != "event"} == {
        "stage": "extract",
        "attempts": 1,
        "error": "a.0: bad",
        "field": "a.0",
        "topic": "episodes",
        "partition": 0,
        "offset": 7,
        "logged_at": make_event(7).timestamp.isoformat(),
        "at": "2026-02-03T04:05:06+00:00",
    }


@pytest.mark.parametrize(
    "value", [b"", b"{", b"\xff\xfe", b'"\xed\xa0\x80"', b"NaN", b"[" * 5000, b"\xef\xbb\xbf{}"]
)
def test_what_is_not_json_is_kept_as_base64(make_event, value):
    letter = orjson.loads(
        dead_letter(replace(make_event(0), value=value), Failure("s", "p", 2, ValueError()), AT)
    )
    assert base64.b64decode(letter["event_base64"]) == value
    assert "event" not in letter


@given(st.none() | st.binary(), st.none() | st.binary(), st.text(st.characters(exclude_categories=())))
def test_any_event_and_any_error_make_a_letter(value, key, text):
    from streams.event import Event

    event = Event("t", 1, 2, key, value, AT)
    letter = orjson.loads(dead_letter(event, Failure("s", "p", 1, RuntimeError(text)), AT))
    if value is None:
        assert letter["event"] is None
    else:
        assert ("event" in letter) != ("event_base64" in letter)


def test_the_largest_event_fits_whatever_its_error(make_event):
    event = replace(make_event(0), value=b"\xff" * EPISODES.max_bytes)
    letter = dead_letter(event, Failure("s", "p", 1, ValueError("é" * 10_000_000)), AT)
    assert len(letter) < DEAD.max_bytes


async def test_a_letter_goes_under_the_groups_key_and_names_the_events_own(make_event):
    sent = []

    class Sender:
        async def send(self, topic, key, value, headers=()):
            sent.append((topic, key, orjson.loads(value), tuple(headers)))

    event = replace(make_event(0), key=stage_key("grüppe", "e1"), headers=(("trace", b"1"),))
    await DeadLetters(Sender(), "x.episodes.dead", lambda: AT).bury(
        event, Failure("s", "p", 5, ValueError("v"))
    )
    [(topic, key, letter, headers)] = sent
    assert (topic, key, headers) == ("x.episodes.dead", "grüppe".encode(), (("trace", b"1"),))
    assert letter["key"] == "grüppe\0e1"
    assert letter["error"] == "ValueError: v"
