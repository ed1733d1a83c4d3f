"""The ledger: only a contiguous done prefix may be acknowledged."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streams.partition_ledger import PartitionLedger


def test_finishing_out_of_order_moves_the_position_only_when_the_gap_closes():
    ledger = PartitionLedger()
    assert [ledger.take(n) for n in (10, 11, 14)] == [True, True, True]
    assert ledger.finish(14) is None
    assert ledger.finish(11) is None
    assert (ledger.pending, ledger.oldest, ledger.acknowledgeable) == (3, 10, None)
    assert ledger.finish(10) == 15
    assert (ledger.pending, ledger.oldest, ledger.acknowledgeable) == (0, None, 15)


def test_an_offset_is_taken_once_and_finished_once():
    ledger = PartitionLedger()
    ledger.take(3)
    ledger.take(4)
    assert not ledger.take(3)
    assert not ledger.take(2)
    ledger.finish(4)
    for wrong in (4, 5, 2):
        with pytest.raises(KeyError):
            ledger.finish(wrong)
    ledger.finish(3)
    with pytest.raises(KeyError):
        ledger.finish(3)
    assert not ledger.take(4)


@given(st.data())
def test_the_position_is_always_just_behind_the_done_prefix(data):
    """Against a plain model, over gaps, any order of finishing, and taking between finishing."""
    offsets = sorted(data.draw(st.sets(st.integers(0, 200), min_size=1, max_size=40)))
    ledger, taken, done, told = PartitionLedger(), [], set(), []
    while len(done) < len(offsets):
        waiting = [n for n in taken if n not in done]
        if len(taken) < len(offsets) and (not waiting or data.draw(st.booleans())):
            taken.append(offsets[len(taken)])
            assert ledger.take(taken[-1])
            continue
        finished = data.draw(st.sampled_from(waiting))
        done.add(finished)
        position = ledger.finish(finished)
        prefix = []
        for offset in taken:
            if offset not in done:
                break
            prefix.append(offset)
        expected = prefix[-1] + 1 if prefix else None
        assert ledger.acknowledgeable == expected
        assert ledger.pending == len(taken) - len(prefix)
        assert ledger.oldest == (taken[len(prefix)] if len(prefix) < len(taken) else None)
        if position is not None:
            assert position == expected
            told.append(position)
    assert told == sorted(set(told))
    assert told[-1] == offsets[-1] + 1
