"""A stage that stops itself: what stops it, that nothing is lost or buried meanwhile, and how it goes on."""

from __future__ import annotations

import asyncio

import pytest

from pipeline.errors import Poison
from streams.failure import Failure
from streams.halt import Halt
from streams.halt_policy import HaltPolicy
from streams.timing import Timing

GROUPS = ("a", "b", "c")


def fails(rig, offsets, phase="handle", times=1):
    for offset in offsets:
        rig.work.script[phase, offset] = [Poison("bad as a whole")] * times


@pytest.mark.parametrize("phase", ["admit", "prepare", "handle"])
async def test_deaths_in_a_row_stop_the_stage_before_the_next_one(make_rig, make_event, wait_until, phase):
    rig = make_rig(phased=True, halt=HaltPolicy(consecutive=4, ratio=0, pause=300.0))
    rig.hold_pauses = asyncio.Event()
    fails(rig, range(20), phase, times=50)
    await rig.offer(*(make_event(n, GROUPS[n % 3]) for n in range(20)))
    await wait_until(lambda: rig.lanes.halt.halted and 300.0 in rig.pauses)
    for _ in range(50):
        await asyncio.sleep(0)
    # A few more than the limit may die: the deaths of one group alone stop nobody.
    assert 3 <= len(rig.buried) <= 7
    died = {offset for offset, _ in rig.buried}
    assert (rig.acked() or 0) == min(set(range(20)) - died)
    assert "4 in a row; last reasons: bad as a whole" in rig.lanes.state().halted
    rig.lanes.report()
    assert rig.observer.halts == [True]


async def test_a_probe_that_succeeds_opens_the_stage_and_nothing_is_lost(make_rig, make_event, wait_until):
    rig = make_rig(halt=HaltPolicy(consecutive=4, ratio=0))
    rig.hold_pauses = asyncio.Event()
    fails(rig, range(9))
    await rig.offer(*(make_event(n, GROUPS[n % 3]) for n in range(9)))
    await wait_until(lambda: rig.lanes.halt.halted and bool(rig.pauses))
    held = sorted(set(range(9)) - {offset for offset, _ in rig.buried})
    for offset in held:
        rig.work.script["handle", offset] = []
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 9)
    assert len(rig.buried) == 3
    assert sorted(rig.work.seen("handleed")) == held
    assert not rig.lanes.halt.halted


async def test_a_probe_that_fails_leaves_it_stopped_and_another_group_tries_next(
    make_rig, make_event, wait_until
):
    rig = make_rig(halt=HaltPolicy(consecutive=2, ratio=0, pause=60.0))
    gate = asyncio.Event()
    rig.hold_pauses = gate
    fails(rig, range(3, 9), times=50)
    fails(rig, range(3))
    await rig.offer(*(make_event(n, GROUPS[n % 3]) for n in range(9)))
    await wait_until(lambda: rig.lanes.halt.halted and bool(rig.pauses))
    [(first, _)] = rig.buried
    before = list(rig.work.seen("handle"))
    rig.hold_pauses = asyncio.Event()
    gate.set()
    await wait_until(lambda: len(rig.work.seen("handle")) > len(before))
    for _ in range(30):
        await asyncio.sleep(0)
    probed = rig.work.seen("handle")[len(before) :]
    assert len(probed) == 1
    assert len(rig.buried) == 1
    assert first not in probed


async def test_one_group_that_dies_among_others_stops_nobody(make_rig, make_event, wait_until):
    rig = make_rig(halt=HaltPolicy(consecutive=3, ratio=0.4, window=10))
    await rig.offer(make_event(0, "good"))
    await wait_until(lambda: rig.acked() == 1)
    fails(rig, range(1, 40))
    await rig.offer(*(make_event(n, "bad") for n in range(1, 40)))
    await wait_until(lambda: rig.acked() == 40)
    assert len(rig.buried) == 39
    assert not rig.lanes.halt.halted


async def test_the_only_group_there_is_stops_the_stage(make_rig, make_event, wait_until):
    rig = make_rig(halt=HaltPolicy(consecutive=3, ratio=0))
    rig.hold_pauses = asyncio.Event()
    fails(rig, range(9), times=50)
    await rig.offer(*(make_event(n) for n in range(9)))
    await wait_until(lambda: rig.lanes.halt.halted)
    assert rig.acked() == 2


def outcomes(halt: Halt, told: str) -> None:
    """Upper case died, lower case was done."""
    for letter in told:
        (halt.died if letter.isupper() else halt.done)(letter.lower().encode())


@pytest.mark.parametrize(
    ("told", "stops"),
    [
        ("abababABA", False),
        ("abABabABa", True),
        ("abAbabABa", False),
        ("aAbBaAbBA", True),
        ("aAbAaAbAA", False),
        ("ABABABABA", True),
        ("AB", False),
    ],
)
async def test_the_ratio_counts_once_the_window_is_full(told, stops):
    halt = Halt("s", HaltPolicy(consecutive=0, ratio=0.5, window=10), Timing())
    outcomes(halt, told)
    assert halt.stops(b"b", Failure("s", "handle", 1, Poison("no"))) is stops


async def test_a_drain_while_stopped_leaves_all_of_it_unacknowledged(make_rig, make_event, wait_until):
    rig = make_rig(halt=HaltPolicy(consecutive=2, ratio=0))
    rig.hold_pauses = asyncio.Event()
    fails(rig, range(6), times=2)
    await rig.offer(*(make_event(n, GROUPS[n % 3]) for n in range(6)))
    await wait_until(lambda: rig.lanes.halt.halted)
    assert len(rig.buried) == 1
    await rig.lanes.drain(1.0)
    assert rig.acked() in (None, 1)
    rig.lanes.resume()
    rig.hold_pauses = None
    await rig.offer(*(make_event(n, GROUPS[n % 3]) for n in range(6)))
    await wait_until(lambda: rig.acked() == 6)


def test_a_policy_out_of_range_is_refused():
    with pytest.raises(ValueError, match="ratio"):
        HaltPolicy(ratio=1.5)
