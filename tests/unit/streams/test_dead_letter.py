"""Which dead letters a filter takes, and what a letter says of its original."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from streams.dead_letter import DeadFilter, DeadLetter

AT = datetime(2026, 3, 1, 12, tzinfo=UTC)
LETTER = DeadLetter(
    "3-17",
    "acme",
    b"acme",
    {"event": {"id": "e1"}, "stage": "extract", "error": "ValueError: The Date is bad", "at": AT.isoformat()},
    (),
)


@pytest.mark.parametrize(
    ("asked", "taken"),
    [
        ({}, True),
        ({"group_id": "acme", "stage": "extract", "reason": "the date"}, True),
        ({"group_id": "acm"}, False),
        ({"stage": "resolve_facts"}, False),
        ({"reason": "a time"}, False),
        ({"since": AT}, True),
        ({"since": AT + timedelta(seconds=1)}, False),
        ({"until": AT}, False),
        ({"until": AT + timedelta(seconds=1)}, True),
        ({"since": AT, "until": AT + timedelta(days=1), "reason": "VALUEERROR"}, True),
    ],
)
def test_a_filter_takes_what_fits_all_of_it(asked, taken):
    assert DeadFilter(**asked).takes(LETTER) is taken


@pytest.mark.parametrize(
    ("original", "value", "episode"),
    [
        ({"event": {"id": "e1", "n": 1}}, b'{"id":"e1","n":1}', "e1"),
        ({"event": {"episode": {"id": "e2"}}}, b'{"episode":{"id":"e2"}}', "e2"),
        ({"event": None}, None, None),
        ({"event_base64": "/3s="}, b"\xff{", None),
    ],
)
def test_the_original_comes_back_as_it_was(original, value, episode):
    letter = DeadLetter("0-0", "acme", b"acme", original, ())
    assert (letter.value, letter.episode_id) == (value, episode)
