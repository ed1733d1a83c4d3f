"""A group with more than its share holds up nobody, and nothing of it is lost, doubled without need, or out of order."""

from __future__ import annotations

import asyncio
import random
from collections import defaultdict
from datetime import timedelta

import pytest

from pipeline.errors import Parked, Retryable
from streams.event import Partition
from streams.lane_policy import LanePolicy
from streams.notes import read_note, tag_of
from tests.unit.streams.conftest import NOW, HandleOnly, Rig, event

P0 = Partition("episodes", 0)


def group_log(groups: str) -> list:
    """One event per letter, of the group of that name."""
    return [event(offset, group) for offset, group in enumerate(groups)]


def done(rig: Rig) -> set[int]:
    return set(rig.work.seen("handleed"))


@pytest.mark.parametrize("phased", [False, True])
async def test_others_go_on_while_a_hot_group_waits_and_it_comes_in_order(make_rig, wait_until, phased):
    log = group_log("h" * 40 + "abcabc" + "h" * 5 + "a")
    rig = make_rig(phased=phased, log=log, share=4, max_pending=8)
    turn = rig.work.gate("handle", 0)
    offering = asyncio.create_task(rig.offer(*log))
    small = {n for n, one in enumerate(log) if one.key != b"h"}
    await wait_until(lambda: done(rig) == small)
    await offering
    assert rig.positions[P0][-1] == len(log)
    assert read_note(rig.notes[P0]) == {tag_of(b"h"): 0}
    assert rig.lanes.deferred(P0) == 45
    assert rig.lanes.in_flight == 4
    rig.lanes.report()
    assert rig.observer.backlogs_by_group == {b"h": 45}
    turn.set()
    await wait_until(lambda: len(done(rig)) == len(log))
    hot = [n for n in rig.work.seen("handleed") if n not in small]
    assert hot == sorted(hot)
    assert len(rig.work.seen("handleed")) == len(log)
    await wait_until(lambda: rig.notes[P0] == "")
    assert (rig.positions[P0][-1], rig.lanes.deferred(P0)) == (len(log), 0)


async def test_one_slow_event_does_not_fill_its_partition(make_rig, wait_until):
    log = group_log("s" + "abcdefgh" * 10)
    rig = make_rig(log=log, max_pending=8)
    turn = rig.work.gate("handle", 0)
    offering = asyncio.create_task(rig.offer(*log))
    await wait_until(lambda: len(done(rig)) == 80)
    await offering
    assert read_note(rig.notes[P0]) == {tag_of(b"s"): 0}
    turn.set()
    await wait_until(lambda: rig.notes[P0] == "")
    assert rig.positions[P0][-1] == 81


async def test_a_group_without_budget_holds_up_no_position(make_rig, wait_until):
    log = group_log("p" * 6 + "ababab")
    rig = make_rig(phased=True, log=log, share=3, max_pending=4)
    rig.hold_pauses = asyncio.Event()
    for offset in range(6):
        rig.work.script["prepare", offset] = [Parked("no budget", NOW + timedelta(hours=1))]
    await rig.offer(*log)
    await wait_until(lambda: len(done(rig)) == 6)
    assert rig.positions[P0][-1] == 12
    assert read_note(rig.notes[P0]) == {tag_of(b"p"): 0}
    # Its texts are stored all the same.
    await wait_until(lambda: set(range(6)) <= set(rig.work.seen("admited")))
    rig.hold_pauses.set()
    await wait_until(lambda: rig.notes[P0] == "" and len(done(rig)) == 12)
    hot = [n for n in rig.work.seen("handleed") if n < 6]
    assert sorted(hot) == list(range(6))


async def test_parked_events_in_hand_are_bounded(make_rig, wait_until):
    log = group_log("p" * 40 + "a")
    rig = make_rig(phased=True, log=log, share=3, max_held=10)
    rig.hold_pauses = asyncio.Event()
    for offset in range(40):
        rig.work.script["prepare", offset] = [Parked("no budget", NOW + timedelta(hours=1))]
    await rig.offer(*log)
    await wait_until(lambda: done(rig) == {40} and len(rig.pauses) >= 10)
    for _ in range(100):
        await asyncio.sleep(0)
    assert 10 <= len(rig.work.seen("admited")) <= 10 + 3 + 1
    rig.hold_pauses.set()
    await wait_until(lambda: len(done(rig)) == 41)


async def test_without_room_in_the_note_it_waits_as_ever(make_rig, wait_until, monkeypatch):
    monkeypatch.setattr("streams.intake.MOST_GROUPS", 1)
    log = group_log("x" * 10 + "y" * 10 + "z")
    rig = make_rig(log=log, share=2, max_pending=4)
    turns = [rig.work.gate("handle", n) for n in (0, 10)]
    offering = asyncio.create_task(rig.offer(*log))
    for _ in range(200):
        await asyncio.sleep(0)
    assert not offering.done()
    for turn in turns:
        turn.set()
    await wait_until(lambda: len(done(rig)) == 21)
    await offering
    assert len(rig.work.seen("handleed")) == 21


async def test_a_failing_event_of_a_hot_group_is_tried_again_in_its_turn(make_rig, wait_until):
    log = group_log("h" * 20)
    rig = make_rig(log=log, share=2)
    rig.work.script["handle", 11] = [Retryable("away")] * 3
    await rig.offer(*log)
    await wait_until(lambda: len(done(rig)) == 20)
    assert rig.work.seen("handleed") == list(range(20))


@pytest.mark.parametrize("seed", range(40))
async def test_whatever_moment_it_is_killed_at_nothing_is_lost_and_order_holds(seed: int) -> None:
    chance = random.Random(seed)
    log = group_log("".join(chance.choices("habcd", weights=(12, 2, 2, 1, 1), k=120)))
    firsts: dict[bytes, list[int]] = defaultdict(list)
    position, note, rounds = 0, "", 0
    while len({n for numbers in firsts.values() for n in numbers}) < len(log) or note:
        rounds += 1
        assert rounds < 60
        rig = Rig(HandleOnly(), log=log, share=chance.randint(1, 5), max_pending=chance.randint(1, 9))
        if position:
            rig.lanes.restore(P0, position, read_note(note))
        rig.lanes.resume()
        offering = asyncio.create_task(rig.offer(*log[position:]))
        for _ in range(chance.randint(1, 400)):
            await asyncio.sleep(0)
        # What was committed last is some moments old when the process dies.
        told = list(zip(rig.positions[P0], rig.note_log, strict=True))
        if told:
            position, note = told[chance.randint(max(0, len(told) - 3), len(told) - 1)]
        for task in (offering, *rig.lanes._tasks.running):
            task.cancel()
        await asyncio.gather(offering, return_exceptions=True)
        assert not rig.crashes
        for offset in rig.work.seen("handleed"):
            if offset not in firsts[log[offset].lane]:
                firsts[log[offset].lane].append(offset)
    for numbers in firsts.values():
        assert numbers == sorted(numbers)


async def test_a_drain_leaves_a_hot_group_to_whoever_comes_next(make_rig, wait_until):
    log = group_log("h" * 30 + "a")
    rig = make_rig(log=log, share=4)
    rig.work.gate("handle", 2)
    await rig.offer(*log)
    await wait_until(lambda: done(rig) == {0, 1, 30})
    await rig.lanes.drain(0.0)
    position, note = rig.positions[P0][-1], rig.notes[P0]
    assert (position, read_note(note)) == (31, {tag_of(b"h"): 2})
    del rig.work.gates["handle", 2]
    rig.generation = 2
    rig.lanes.restore(P0, position, read_note(note))
    rig.lanes.resume()
    await wait_until(lambda: len(done(rig)) == 31)
    await wait_until(lambda: rig.notes[P0] == "")
    assert rig.work.seen("handleed") == [0, 1, 30, *range(2, 30)]


def test_the_share_is_at_least_one():
    with pytest.raises(ValueError, match="share"):
        LanePolicy(share=0)
