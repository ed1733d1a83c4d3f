"""What lanes say of themselves: what is stuck, since when, and that a hanging attempt ends."""

from __future__ import annotations

import asyncio
from datetime import timedelta

from pipeline.errors import Parked, Retryable
from streams.verdict import Verdict
from tests.unit.streams.conftest import NOW


async def test_a_running_handler_and_the_time_without_a_finished_event_are_told(
    make_rig, make_event, wait_until
):
    rig = make_rig()
    rig.work.gate("handle", 0)
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.work.running == {0})
    rig.now = 700.0
    state = rig.lanes.state()
    assert (state.waiting, state.quiet, state.oldest_age) == (2, 700.0, 100.0)
    assert (state.slowest.phase, state.slowest.place, state.slowest.seconds) == (
        "handle",
        "episodes/0/0",
        700.0,
    )
    rig.work.gates["handle", 0].set()
    await wait_until(lambda: rig.acked() == 2)
    state = rig.lanes.state()
    assert (state.waiting, state.quiet, state.oldest_age, state.slowest) == (0, 0.0, 0.0, None)


async def test_time_without_work_is_no_time_without_progress(make_rig, make_event, wait_until):
    rig = make_rig()
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.acked() == 1)
    rig.now = 5000.0
    rig.work.gate("handle", 1)
    await rig.offer(make_event(1))
    await wait_until(lambda: rig.work.running == {1})
    rig.now = 5001.0
    assert rig.lanes.state().quiet == 1.0


async def test_an_event_in_a_pause_is_failing_and_not_running(make_rig, make_event, wait_until):
    rig = make_rig()
    rig.hold_pauses = asyncio.Event()
    rig.work.script["handle", 0] = [Retryable("the graph is away")] * 2
    await rig.offer(make_event(0))
    await wait_until(lambda: len(rig.pauses) == 1)
    state = rig.lanes.state()
    assert state.slowest is None
    assert (state.failing.failures, state.failing.error) == (1, "Retryable: the graph is away")
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 1)
    assert rig.lanes.state().failing is None


async def test_what_waits_for_a_budget_counts_neither_as_waiting_nor_by_its_age(
    make_rig, make_event, wait_until
):
    rig = make_rig(phased=True)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["prepare", 0] = [Parked("no budget", NOW + timedelta(hours=9))]
    await rig.offer(make_event(0))
    await wait_until(lambda: len(rig.pauses) == 1)
    rig.now = 30_000.0
    state = rig.lanes.state()
    assert (state.waiting, state.parked, state.oldest_age, state.quiet) == (0, 1, 0.0, 0.0)
    rig.work.gate("handle", 5)
    await rig.offer(make_event(5, "other"))
    await wait_until(lambda: rig.work.running == {5})
    assert rig.lanes.state().oldest_age == 95.0
    rig.work.gates["handle", 5].set()
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 6)


async def test_an_attempt_that_hangs_is_cut_off_seen_and_tried_again(make_rig, make_event, wait_until):
    rig = make_rig(longest_attempt=1800.0, attempts=1)
    rig.work.gate("handle", 0)
    await rig.offer(make_event(0), make_event(1), make_event(2, "other"))
    await wait_until(lambda: rig.work.seen("handleed") == [2])
    rig.hold_pauses = asyncio.Event()
    rig.cut_off()
    await wait_until(lambda: len(rig.pauses) == 1)
    assert "no result within 1800 s" in rig.lanes.state().failing.error
    assert rig.observer.failed == [("handle", Verdict.TIMEOUT)]
    del rig.work.gates["handle", 0]
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 3)
    assert rig.work.seen("handleed") == [2, 0, 1]
    assert rig.buried == []


async def test_a_timeout_of_the_work_itself_is_not_the_limit(make_rig, make_event, wait_until):
    rig = make_rig(attempts=1)
    rig.work.script["handle", 0] = [TimeoutError("the work's own")]
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.acked() == 1)
    assert rig.buried[0][1].reason == "TimeoutError: the work's own"
