"""Records of a newer format end the program with nothing acknowledged behind them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pipeline.errors import NewerFormat
from streams.event_format import EVENT_FORMAT, FORMAT_HEADER, check_format, stamped


def newer(event):
    return replace(event, headers=((FORMAT_HEADER, str(EVENT_FORMAT + 1).encode()),))


def test_a_version_is_put_on_once():
    assert stamped([]) == [(FORMAT_HEADER, b"1")]
    again = [("trace", b"1"), (FORMAT_HEADER, b"0")]
    assert stamped(again) == again


@pytest.mark.parametrize("header", [None, b"", b"0", b"1", b"one", b"-7", "²".encode()])
def test_what_is_no_newer_version_passes(header):
    check_format("t/0/1", header)


async def test_a_newer_event_ends_everything(make_rig, make_event, wait_until):
    rig = make_rig()
    running = rig.work.gate("handle", 1)
    await rig.offer(make_event(0, "a"), make_event(1, "b"))
    await wait_until(lambda: rig.acked() == 1)
    await rig.offer(newer(make_event(2, "c")))
    (crash,) = rig.crashes
    assert isinstance(crash, NewerFormat)
    assert "format 2, this program knows up to 1" in str(crash)
    # What comes behind it is not taken in: it would be acknowledged over it. What runs may end.
    await rig.offer(make_event(3, "c"), make_event(4, "d"))
    running.set()
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.seen("handle") == [0, 1]
    assert not rig.buried
    rig.lanes.resume()
    await rig.offer(make_event(5, "e"))
    assert rig.work.seen("handle") == [0, 1]


async def test_a_newer_graph_ends_everything(make_rig, make_event, wait_until):
    rig = make_rig(attempts=3)
    rig.work.script["handle", 0] = [NewerFormat("the graph has schema version 9")]
    await rig.offer(make_event(0, "a"), make_event(1, "b"))
    await wait_until(lambda: len(rig.crashes) == 1)
    assert isinstance(rig.crashes[0], NewerFormat)
    assert rig.acked() is None
    assert not rig.buried
    assert not rig.pauses
