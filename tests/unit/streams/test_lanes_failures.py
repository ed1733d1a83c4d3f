"""What happens to an event whose handling fails: again, at once, or to the dead letters; never lost, never skipped."""

from __future__ import annotations

import asyncio

from aiokafka.errors import KafkaConnectionError

from pipeline.errors import Fenced, Poison, Retryable
from streams.verdict import Verdict


async def test_an_unknown_error_is_tried_a_few_times_then_dead_lettered(make_rig, make_event, wait_until):
    rig = make_rig(attempts=3, first_pause=1.0, longest_pause=8.0)
    rig.work.script["handle", 0] = [ValueError("bad")] * 9
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
    [(offset, failure)] = rig.buried
    assert (offset, failure.stage, failure.phase, failure.attempts) == (0, "stage", "handle", 3)
    assert failure.reason == "ValueError: bad"
    assert rig.work.seen("handle") == [0, 0, 0, 1]
    assert rig.pauses == [0.5, 1.0]
    assert rig.observer.outcomes == ["dead", "done"]
    assert [offset for offset, _ in rig.work.dead] == [0]


async def test_an_outage_is_tried_for_as_long_as_it_takes(make_rig, make_event, wait_until):
    rig = make_rig(attempts=2, first_pause=1.0, longest_pause=4.0)
    rig.work.script["handle", 0] = [Retryable("down")] * 6 + [KafkaConnectionError("gone")] * 6
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
    assert rig.buried == []
    assert rig.work.seen("handleed") == [0, 1]
    assert rig.pauses == [0.5, 1.0] + [2.0] * 10


async def test_poison_is_dead_lettered_at_once(make_rig, make_event, wait_until):
    rig = make_rig()
    rig.work.script["handle", 0] = [Poison("not a time", "reference_time")]
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.acked() == 1)
    [(_, failure)] = rig.buried
    assert (failure.attempts, failure.field, failure.reason) == (
        1,
        "reference_time",
        "reference_time: not a time",
    )
    assert rig.pauses == []


async def test_fenced_runs_again_at_once_then_with_pauses_and_is_never_dead(make_rig, make_event, wait_until):
    rig = make_rig(fenced_reruns=2, attempts=1)
    rig.work.script["handle", 0] = [Fenced("theirs")] * 5
    await rig.offer(make_event(0))
    await wait_until(lambda: rig.acked() == 1)
    assert rig.buried == []
    assert len(rig.pauses) == 3
    assert rig.observer.failed == [("handle", Verdict.FENCED)] * 5


async def test_nothing_is_acknowledged_until_the_dead_letter_is_durable(make_rig, make_event, wait_until):
    rig = make_rig(attempts=1)
    rig.hold_pauses = asyncio.Event()
    rig.bury_errors = [Retryable("broker down"), ValueError("a bug in the writer")]
    rig.work.script["handle", 0] = [Poison("no")]
    await rig.offer(make_event(0), make_event(1), make_event(2, "other"))
    await wait_until(lambda: len(rig.pauses) == 1 and rig.work.seen("handleed") == [2])
    assert rig.acked() is None
    assert 1 not in rig.work.seen("handle")
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 3)
    assert [offset for offset, _ in rig.buried] == [0]


async def test_telling_of_a_death_may_fail_without_stopping_the_lane(make_rig, make_event, wait_until):
    rig = make_rig(attempts=2)
    rig.work.script["handle", 0] = [Poison("no")]
    rig.work.script["on_dead", 0] = [ValueError("bug")] * 9
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.seen("on_dead") == [0, 0]
    assert len(rig.buried) == 1


async def test_a_failing_lane_holds_no_place_while_it_pauses(make_rig, make_event, wait_until):
    rig = make_rig(concurrency=1)
    rig.hold_pauses = asyncio.Event()
    rig.work.script["handle", 0] = [Retryable("down")]
    await rig.offer(make_event(0, "a"), make_event(1, "b"))
    await wait_until(lambda: rig.work.seen("handleed") == [1])
    rig.hold_pauses.set()
    await wait_until(lambda: rig.acked() == 2)


async def test_a_cancellation_from_inside_a_handler_is_an_error_like_others(make_rig, make_event, wait_until):
    rig = make_rig(attempts=2)
    rig.work.script["handle", 0] = [asyncio.CancelledError()]
    rig.work.script["handle", 1] = [asyncio.CancelledError(), asyncio.CancelledError()]
    await rig.offer(make_event(0), make_event(1))
    await wait_until(lambda: rig.acked() == 2)
    assert rig.work.seen("handleed") == [0]
    assert [offset for offset, _ in rig.buried] == [1]


async def test_a_bug_in_the_lanes_is_told_and_the_event_left_unacknowledged(make_rig, make_event, wait_until):
    rig = make_rig()

    def broken(*_: object) -> None:
        raise RuntimeError("observer broke")

    rig.observer.attempt_failed = broken
    rig.work.script["handle", 0] = [ValueError("bad")]
    await rig.offer(make_event(0))
    await wait_until(lambda: bool(rig.crashes))
    assert str(rig.crashes[0]) == "observer broke"
    assert rig.acked() is None
