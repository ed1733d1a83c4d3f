"""Order, acknowledgement, backpressure and generations: what lanes promise when nothing fails."""

from __future__ import annotations

import asyncio


async def test_order_inside_a_lane_and_parallel_across(make_rig, make_event, wait_until):
    rig = make_rig()
    first, second = rig.work.gate("handle", 0), rig.work.gate("handle", 1)
    await rig.offer(make_event(0, "a"), make_event(1, "b"), make_event(2, "a"), make_event(3, "b"))
    await wait_until(lambda: rig.work.running == {0, 1})
    second.set()
    await wait_until(lambda: rig.work.seen("handleed") == [1, 3])
    assert 2 not in rig.work.seen("handle")
    first.set()
    await wait_until(lambda: rig.acked() == 4)
    assert rig.work.seen("handleed") == [1, 3, 0, 2]
    assert not rig.crashes


async def test_only_the_contiguous_prefix_is_acknowledged(make_rig, make_event, wait_until):
    rig = make_rig()
    gate = rig.work.gate("handle", 0)
    await rig.offer(*(make_event(n, f"g{n}") for n in (0, 1, 2, 5)))
    await wait_until(lambda: sorted(rig.work.seen("handleed")) == [1, 2, 5])
    assert rig.acked() is None
    assert rig.lanes.in_flight == 4
    gate.set()
    await wait_until(lambda: rig.acked() == 6)
    assert rig.lanes.in_flight == 0


async def test_partitions_are_acknowledged_apart(make_rig, make_event, wait_until):
    rig = make_rig()
    rig.work.gate("handle", 0)
    await rig.offer(make_event(0, "a"), make_event(7, "b", partition=1))
    await wait_until(lambda: rig.acked(1) == 8)
    assert rig.acked(0) is None
    await rig.lanes.drain(0)


async def test_concurrency_is_bounded_over_all_lanes(make_rig, make_event, wait_until):
    rig = make_rig(concurrency=3)
    gates = [rig.work.gate("handle", n) for n in range(10)]
    await rig.offer(*(make_event(n, f"g{n}") for n in range(10)))
    await wait_until(lambda: len(rig.work.running) == 3)
    for gate in gates:
        gate.set()
    await wait_until(lambda: rig.acked() == 10)
    assert rig.work.most_running == 3


async def test_a_full_partition_stops_taking_in_and_others_go_on(make_rig, make_event, wait_until):
    rig = make_rig(max_pending=2)
    gate = rig.work.gate("handle", 0)
    await rig.offer(make_event(0, "a"), make_event(1, "b"))
    await wait_until(lambda: rig.work.seen("handleed") == [1])
    third = asyncio.ensure_future(rig.lanes.offer(make_event(2, "c")))
    await rig.offer(make_event(10, "z", partition=1))
    await wait_until(lambda: rig.acked(1) == 11)
    assert not third.done()
    assert rig.work.seen("handle").count(2) == 0
    gate.set()
    await third
    await wait_until(lambda: rig.acked() == 3)


async def test_a_stale_generation_is_dropped_unacknowledged(make_rig, make_event, wait_until):
    rig = make_rig()
    await rig.offer(make_event(0, generation=0), make_event(4, generation=1))
    await wait_until(lambda: rig.acked() == 5)
    assert rig.work.seen("handle") == [4]


async def test_an_event_that_waits_for_room_is_dropped_when_the_generation_moves_on(
    make_rig, make_event, wait_until
):
    rig = make_rig(max_pending=1)
    gate = rig.work.gate("handle", 0)
    await rig.offer(make_event(0))
    waiting = asyncio.ensure_future(rig.lanes.offer(make_event(1)))
    await wait_until(lambda: rig.work.running == {0})
    rig.generation = 2
    gate.set()
    await waiting
    await wait_until(lambda: rig.lanes.in_flight == 0)
    assert rig.work.seen("handle") == [0]


async def test_an_event_read_twice_runs_once(make_rig, make_event, wait_until):
    rig = make_rig()
    await rig.offer(make_event(0), make_event(1), make_event(0), make_event(1), make_event(2))
    await wait_until(lambda: rig.acked() == 3)
    assert rig.work.seen("handle") == [0, 1, 2]


async def test_the_backlog_is_reported_with_the_age_of_the_oldest(make_rig, make_event, wait_until):
    rig = make_rig()
    gate = rig.work.gate("handle", 40)
    rig.work.gate("handle", 70)
    await rig.offer(make_event(70, "a"), make_event(40, "b", partition=1), make_event(41, "c", partition=1))
    await wait_until(lambda: rig.work.seen("handleed") == [41])
    rig.lanes.report()
    gate.set()
    await wait_until(lambda: rig.acked(1) == 42)
    rig.lanes.report()
    await rig.lanes.drain(0)
    rig.lanes.report()
    assert rig.observer.backlogs == [(3, 60.0), (1, 30.0), (0, 0.0)]
