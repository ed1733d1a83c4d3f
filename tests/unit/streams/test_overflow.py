"""The account of a group that was set aside: what is read again, what is not there any more, where it stands."""

from __future__ import annotations

from streams.overflow import Overflow


def drain(overflow: Overflow) -> list[int]:
    taken = []
    while (event := overflow.take()) is not None:
        taken.append(event.offset)
    return taken


def test_what_was_passed_over_is_read_in_order_and_nothing_else(make_event):
    overflow = Overflow()
    for offset in (3, 4, 5, 9, 12):
        overflow.skip(offset)
    assert (overflow.position, overflow.wanted, overflow.deferred) == (3, 3, 5)
    overflow.read([make_event(n) for n in range(3, 10)], 10)
    assert overflow.deferred == 5
    assert drain(overflow) == [3, 4, 5, 9]
    assert (overflow.position, overflow.wanted, overflow.deferred) == (3, 12, 1)
    for offset in (4, 3, 5, 9):
        overflow.ledger.finish(offset)
    assert overflow.position == 12
    overflow.read([make_event(12)], 13)
    assert drain(overflow) == [12]
    overflow.ledger.finish(12)
    assert overflow.position is None


def test_a_batch_may_end_inside_a_range(make_event):
    overflow = Overflow()
    for offset in range(100):
        overflow.skip(offset)
    overflow.read([make_event(n) for n in range(40)], 40)
    assert (overflow.wanted, overflow.deferred) == (40, 100)
    assert drain(overflow) == list(range(40))
    assert overflow.deferred == 60


def test_what_was_compacted_away_is_not_waited_for(make_event):
    overflow = Overflow()
    for offset in (3, 5, 7):
        overflow.skip(offset)
    overflow.read([make_event(5), make_event(6)], 7)
    assert drain(overflow) == [5]
    assert overflow.wanted == 7


def test_after_a_restart_the_range_is_looked_through_and_no_further(make_event):
    overflow = Overflow((10, 20))
    overflow.skip(25)
    assert (overflow.position, overflow.wanted) == (10, 10)
    overflow.read([make_event(11), make_event(15)], 16)
    assert overflow.wanted == 16
    overflow.read([make_event(18), make_event(25)], 26)
    assert drain(overflow) == [11, 15, 18]
    assert overflow.wanted == 25
    overflow.read([make_event(25)], 26)
    assert drain(overflow) == [25]


def test_an_empty_range_is_none():
    assert Overflow((5, 5)).position is None
