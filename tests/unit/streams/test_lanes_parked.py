"""Parked events: they wait, and neither their group's other events nor anyone else's wait for them."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pipeline.errors import Parked, Poison
from streams.verdict import Verdict
from tests.unit.streams.conftest import NOW

LATER = NOW + timedelta(hours=3)


def parked() -> Parked:
    return Parked("the budget is used up", LATER)


async def test_a_parked_event_waits_until_its_moment_and_then_goes_on(make_rig, make_event, wait_until):
    rig = make_rig(phased=True, attempts=1)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked(), parked()]
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.pauses == [3 * 3600.0])
    assert rig.acked() is None
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 1)
    assert rig.pauses == [3 * 3600.0] * 2
    assert rig.observer.failed == [("prepare", Verdict.PARKED)] * 2
    assert rig.buried == []


async def test_later_events_of_its_group_pass_it_and_it_steps_back_in_order(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked()]
    rig.work.script["prepare", 2] = [parked()]
    await rig.offer(*(make_event(n) for n in range(4)))
    await wait_until(lambda: rig.work.seen("handleed") == [1, 3])
    assert rig.work.seen("admited") == [0, 1, 2, 3]
    assert rig.acked() is None
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 4)
    assert rig.work.seen("handleed") == [1, 3, 0, 2]


async def test_one_that_steps_back_while_another_has_its_turn_runs_after_it(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked()]
    turn = rig.work.gate("handle", 1)
    await rig.offer(make_event(0), make_event(1), make_event(2))
    await wait_until(lambda: rig.work.running == {1})
    rig.hold_pauses.set()
    await wait_until(lambda: 0 in rig.work.seen("prepareed"))
    assert rig.work.running == {1}
    turn.set()
    await wait_until(lambda: rig.acked() == 3)
    assert rig.work.seen("handleed") == [1, 0, 2]
    assert rig.work.most_running == 1


async def test_parked_events_hold_no_place_and_do_not_fill_their_partition(make_rig, make_event, wait_until):
    rig = make_rig(phased=True, max_pending=2, ahead=1, concurrency=1)
    rig.hold_pauses = asyncio.Event()
    for offset in range(5):
        rig.work.script["prepare", offset] = [parked()]
    events = [make_event(n, "poor") for n in range(5)] + [make_event(n, "rich") for n in range(5, 12)]
    offering = asyncio.create_task(rig.offer(*events))
    await wait_until(lambda: rig.work.seen("handleed") == [5, 6, 7, 8, 9, 10, 11])
    await offering
    rig.lanes.report()
    assert rig.observer.parkings == [5]
    assert rig.acked() is None
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 12)
    rig.lanes.report()
    assert rig.observer.parkings == [5, 0]


async def test_what_is_held_open_behind_parked_events_is_bounded(make_rig, make_event, wait_until):
    rig = make_rig(phased=True, max_pending=2, max_held=4)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked()]
    offering = asyncio.create_task(rig.offer(*(make_event(n, f"g{n}") for n in range(10))))
    await wait_until(lambda: len(rig.work.seen("handleed")) == 5)
    for _ in range(50):
        await asyncio.sleep(0)
    assert rig.lanes.in_flight == 6
    assert not offering.done()
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 10)
    await offering


async def test_new_events_of_a_group_use_the_lane_of_its_parked_ones(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked()]
    await rig.offer(make_event(0))
    await wait_until(lambda: bool(rig.pauses))
    turn = rig.work.gate("handle", 1)
    await rig.offer(make_event(1))
    await wait_until(lambda: rig.work.running == {1})
    rig.hold_pauses.set()
    await wait_until(lambda: 0 in rig.work.seen("prepareed"))
    assert rig.work.running == {1}
    turn.set()
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.most_running == 1


async def test_a_parked_event_may_turn_out_to_be_poison(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    rig.work.script["prepare", 0] = [parked(), Poison("no")]
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
    assert [offset for offset, _ in rig.buried] == [0]


async def test_a_drain_does_not_wait_for_parked_events_and_leaves_them_unacknowledged(
    make_rig, make_event, wait_until
):
    rig = make_rig(phased=True)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [parked()]
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.work.seen("handleed") == [1])
    await rig.lanes.drain(10.0)
    assert rig.acked() is None
    rig.lanes.resume()
    rig.hold_pauses = None
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
