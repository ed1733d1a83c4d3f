"""A drain: what runs gets its grace, nothing new starts, the rest is left for the next owner."""

from __future__ import annotations

import asyncio

from pipeline.errors import Poison, Retryable
from streams.drained import Drained


async def test_a_running_handler_finishes_and_is_acknowledged(make_rig, make_event, wait_until):
    rig = make_rig(concurrency=1)
    gate = rig.work.gate("handle", 0)
    await rig.offer(make_event(0, "a"), make_event(1, "a"), make_event(2, "b"))
    await wait_until(lambda: rig.work.running == {0})
    drain = asyncio.ensure_future(rig.lanes.drain(60))
    await asyncio.sleep(0)
    gate.set()
    assert await drain == Drained(finished=1, given_back=2)
    assert rig.acked() == 1
    assert rig.work.seen("handle") == [0]
    assert rig.lanes.in_flight == 0


async def test_what_outlasts_its_grace_is_cancelled_and_left(make_rig, make_event, wait_until):
    rig = make_rig()
    rig.work.gate("handle", 0)
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.work.running == {0})
    drained = await rig.lanes.drain(0.01)
    assert drained == Drained(given_back=2, cut=1)
    assert drained.told(0.01).endswith(
        "2 given back to be read again (1 were cut off after the grace time of 0.01 s)"
    )
    assert rig.acked() is None
    assert rig.work.running == set()
    assert len(asyncio.all_tasks()) == 1
    assert not rig.crashes


async def test_a_handler_that_fails_during_the_grace_is_not_tried_again(make_rig, make_event, wait_until):
    rig = make_rig()
    gate = rig.work.gate("handle", 0)
    rig.work.script["handle", 0] = [Poison("no")]
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.work.running == {0})
    drain = asyncio.ensure_future(rig.lanes.drain(60))
    await asyncio.sleep(0)
    gate.set()
    await drain
    assert (rig.work.seen("handle"), rig.buried, rig.acked()) == ([0], [], None)


async def test_a_pause_does_not_use_up_the_grace(make_rig, make_event, wait_until):
    rig = make_rig()
    rig.hold_pauses = asyncio.Event()
    rig.work.script["handle", 0] = [Retryable("down")]
    await rig.offer(make_event(0))
    await wait_until(lambda: len(rig.pauses) == 1)
    await asyncio.wait_for(rig.lanes.drain(3600), timeout=30)
    assert rig.acked() is None


async def test_nothing_is_taken_in_until_resumed(make_rig, make_event, wait_until):
    rig = make_rig(max_pending=1)
    rig.work.gate("handle", 0)
    await rig.offer(make_event(0))
    waiting = asyncio.ensure_future(rig.lanes.offer(make_event(1)))
    await wait_until(lambda: rig.work.running == {0})
    await rig.lanes.drain(0)
    await waiting
    await rig.offer(make_event(2))
    assert rig.lanes.in_flight == 0
    rig.generation = 2
    rig.work.gates.clear()
    rig.lanes.resume()
    await rig.offer(make_event(0, generation=2), make_event(1, generation=2))
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.seen("handleed") == [0, 1]


async def test_a_handler_that_ignores_its_cancellation_cannot_acknowledge(
    make_rig, make_event, wait_until, monkeypatch
):
    monkeypatch.setattr("streams.lane_tasks.CANCELLED_WITHIN", 0.01)
    rig = make_rig()
    release = asyncio.Event()
    plain = rig.work.handle

    async def stubborn(event, admitted, prepared):
        if event.generation == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                await release.wait()
                return
        await plain(event, admitted, prepared)

    rig.work.handle = stubborn
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: len(asyncio.all_tasks()) == 2)
    await asyncio.sleep(0)
    await rig.lanes.drain(0)
    rig.generation = 2
    rig.lanes.resume()
    release.set()
    await wait_until(lambda: len(asyncio.all_tasks()) == 1)
    assert rig.acked() is None
    await rig.offer(make_event(0, generation=2), make_event(1, generation=2))
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.seen("handleed") == [0, 1]
