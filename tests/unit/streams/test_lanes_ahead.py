"""Working ahead: admitted in order, prepared in parallel, handled in order."""

from __future__ import annotations

import asyncio

from pipeline.errors import Fenced, Poison, Retryable


async def test_admit_in_order_prepare_in_parallel_handle_in_order(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    slow = rig.work.gate("prepare", 0)
    await rig.offer(*(make_event(n) for n in range(4)))
    await wait_until(lambda: sorted(rig.work.seen("prepareed")) == [1, 2, 3])
    assert rig.work.seen("admit") == rig.work.seen("admited") == [0, 1, 2, 3]
    assert rig.work.seen("handle") == []
    assert rig.acked() is None
    slow.set()
    await wait_until(lambda: rig.acked() == 4)
    assert rig.work.seen("handleed") == [0, 1, 2, 3]


async def test_admission_waits_for_the_admission_before_it(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    slow = rig.work.gate("admit", 0)
    await rig.offer(make_event(0, "a"), make_event(1, "a"), make_event(2, "b"))
    await wait_until(lambda: rig.work.seen("handleed") == [2])
    assert 1 not in rig.work.seen("admit")
    slow.set()
    await wait_until(lambda: rig.acked() == 3)


async def test_preparations_are_bounded_and_do_not_hold_up_admissions(make_rig, make_event, wait_until):
    rig = make_rig(phased=True, ahead=2)
    gates = [rig.work.gate("prepare", n) for n in range(6)]
    await rig.offer(*(make_event(n, f"g{n % 3}") for n in range(6)))
    await wait_until(lambda: len(rig.work.seen("admited")) == 6 and len(rig.work.seen("prepare")) == 2)
    for gate in gates:
        gate.set()
    await wait_until(lambda: rig.acked() == 6)


async def test_poison_in_admit_is_dead_lettered_in_its_turn(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    first = rig.work.gate("handle", 0)
    rig.work.script["admit", 1] = [Poison("no group", "group_id")]
    await rig.offer(*(make_event(n) for n in range(3)))
    await wait_until(lambda: rig.work.running == {0} and rig.work.seen("prepareed")[-1:] == [2])
    assert rig.buried == []
    first.set()
    await wait_until(lambda: rig.acked() == 3)
    [(offset, failure)] = rig.buried
    assert (offset, failure.phase, failure.field) == (1, "admit", "group_id")
    assert rig.work.seen("handleed") == [0, 2]
    assert rig.work.seen("prepare") == [0, 2]


async def test_errors_of_the_phases_ahead_follow_the_same_rules(make_rig, make_event, wait_until):
    rig = make_rig(phased=True, attempts=2, fenced_reruns=1)
    rig.work.script["admit", 0] = [Retryable("graph down")] * 5
    rig.work.script["prepare", 1] = [Retryable("429")] * 5
    rig.work.script["prepare", 2] = [ValueError("bug")] * 5
    rig.work.script["prepare", 3] = [Fenced("theirs")] * 4
    await rig.offer(*(make_event(n) for n in range(4)))
    await wait_until(lambda: rig.acked() == 4)
    assert rig.work.seen("handleed") == [0, 1, 3]
    [(offset, failure)] = rig.buried
    assert (offset, failure.phase, failure.attempts) == (2, "prepare", 2)


async def test_a_fenced_handler_keeps_what_was_prepared(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    rig.work.script["handle", 0] = [Fenced("theirs")]
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.acked() == 1)
    assert rig.work.seen("prepare") == [0]
    assert rig.work.seen("handle") == [0, 0]


async def test_a_drain_cancels_what_runs_ahead_and_leaves_it_unacknowledged(make_rig, make_event, wait_until):
    rig = make_rig(phased=True)
    for n in range(3):
        rig.work.gate("prepare", n)
    await rig.offer(*(make_event(n) for n in range(3)))
    await wait_until(lambda: len(rig.work.seen("prepare")) == 3)
    await rig.lanes.drain(60)
    assert rig.work.seen("handle") == []
    assert rig.acked() is None
    assert len(asyncio.all_tasks()) == 1
    rig.work.gates.clear()
    rig.generation = 2
    rig.lanes.resume()
    await rig.offer(*(make_event(n, generation=2) for n in range(3)))
    await wait_until(lambda: rig.acked() == 3)
    assert rig.work.seen("handleed") == [0, 1, 2]
