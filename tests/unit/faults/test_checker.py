"""The checker of the fault runs finds what it is there to find. A small sound run is spoilt in one way at a time."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest

from pipeline.graph.digest import GroupDump
from tests.faults.checker import Seen, compare
from tests.faults.graph_checks import Expected
from tests.faults.load import Sent, history, last_step
from tests.faults.report import Report
from tests.unit.faults.sound_run import dump_of

EVENTS = 5
GROUP = "g"


@dataclass
class Record:
    key: bytes
    value: bytes
    offset: int
    topic: str = "episodes"
    partition: int = 0


def log_of(sent: list[Sent]) -> list[Record]:
    return [Record(one.key, one.value, place) for place, one in enumerate(sent)]


def dead_of(log: list[Record], sent: list[Sent]) -> list[Record]:
    letters = [
        {"event": orjson.loads(r.value), "stage": "extract", "error": "content.0: bad", "topic": r.topic}
        | {"partition": r.partition, "offset": r.offset}
        for r, one in zip(log, sent, strict=True)
        if one.episode is None
    ]
    return [Record(GROUP.encode(), orjson.dumps(letter), n) for n, letter in enumerate(letters)]


def statuses_of(dump: GroupDump, sent: list[Sent]) -> list[Record]:
    states = {e.episode.id: e.state.value for e in dump.episodes}
    order = dict.fromkeys(one.episode for one in sent if one.episode is not None)
    bodies = [{"group_id": GROUP, "episode_id": e, "state": states[e]} for e in order]
    return [Record(GROUP.encode(), orjson.dumps(body), n) for n, body in enumerate(bodies)]


@pytest.fixture(scope="module")
def sound() -> tuple[list[Sent], Seen, Expected]:
    sent = history(GROUP, EVENTS)
    dump, changes = asyncio.run(dump_of(sent))
    log = log_of(sent)
    told = [Record(GROUP.encode(), c.model_dump_json().encode(), n) for n, c in enumerate(changes)]
    seen = Seen(log, statuses_of(dump, sent), told, dead_of(log, sent), [dump], [dump], 0)
    return sent, seen, Expected(dump, last_step(EVENTS))


def judged(sent: list[Sent], seen: Seen, expected: Expected) -> Report:
    report = Report("one")
    compare(report, sent, seen, {GROUP: expected})
    return report


def test_a_sound_run_has_no_findings(sound: Any) -> None:
    report = judged(*sound)
    assert report.sound, report.told()
    assert report.acknowledged == EVENTS + 3
    assert (report.dead, report.groups, report.equal_digests) == (1, 1, 1)


def spoilt(seen: Seen, **parts: Any) -> Seen:
    return replace(seen, dumps=[replace(seen.dumps[0], **parts)])


def test_what_was_acknowledged_and_is_in_no_log_is_lost(sound: Any) -> None:
    sent, seen, expected = sound
    report = judged(sent, replace(seen, log=seen.log[:-1]), expected)
    assert any("not in the log" in text for text in report.lost)


def test_an_episode_without_an_end_is_lost(sound: Any) -> None:
    sent, seen, expected = sound
    dump = seen.dumps[0]
    report = judged(sent, spoilt(seen, episodes=dump.episodes[1:]), expected)
    assert any("unknown" in text for text in report.lost)


def test_a_bad_event_without_a_dead_letter_is_lost(sound: Any) -> None:
    sent, seen, expected = sound
    report = judged(sent, replace(seen, dead=[]), expected)
    assert any("no dead letter" in text for text in report.lost)


def test_a_dead_letter_that_differs_from_its_event_is_untrue(sound: Any) -> None:
    sent, seen, expected = sound
    letter = orjson.loads(seen.dead[0].value) | {"event": {"id": "bad"}}
    report = judged(sent, replace(seen, dead=[replace(seen.dead[0], value=orjson.dumps(letter))]), expected)
    assert any("differs from its event" in text for text in report.untrue)


@pytest.mark.parametrize("kind", ["evidence", "mentions", "entities", "episodes", "memberships"])
def test_what_stands_twice_is_found(sound: Any, kind: str) -> None:
    sent, seen, expected = sound
    things = getattr(seen.dumps[0], kind)
    assert judged(sent, spoilt(seen, **{kind: (*things, things[0])}), expected).twice


@pytest.mark.parametrize("kind", ["evidence", "mentions", "entities", "facts"])
def test_what_is_missing_is_lost(sound: Any, kind: str) -> None:
    sent, seen, expected = sound
    assert judged(sent, spoilt(seen, **{kind: getattr(seen.dumps[0], kind)[1:]}), expected).lost


def test_evidence_that_was_learned_in_another_order_is_found(sound: Any) -> None:
    sent, seen, expected = sound
    learned = sorted(seen.dumps[0].evidence, key=lambda e: e.sequence)
    first, last = learned[0], learned[-1]
    swapped = [
        first.model_copy(update={"recorded_at": last.recorded_at}),
        *learned[1:-1],
        last.model_copy(update={"recorded_at": first.recorded_at}),
    ]
    assert judged(sent, spoilt(seen, evidence=tuple(swapped)), expected).out_of_order


def test_commits_in_another_order_than_the_log_are_found(sound: Any) -> None:
    sent, seen, expected = sound
    report = judged(sent, replace(seen, statuses=seen.statuses[::-1]), expected)
    assert any("was committed as" in text for text in report.out_of_order)


def test_a_counter_that_does_not_end_at_its_last_step_is_found(sound: Any) -> None:
    sent, seen, expected = sound
    assert judged(sent, seen, replace(expected, last_step="Step 2")).out_of_order


def test_a_status_that_is_not_the_graphs_is_untrue(sound: Any) -> None:
    sent, seen, expected = sound
    assert judged(sent, replace(seen, statuses=seen.statuses[:-1]), expected).untrue


def test_a_change_that_was_never_told_is_lost(sound: Any) -> None:
    sent, seen, expected = sound
    assert judged(sent, replace(seen, changes=seen.changes[1:]), expected).lost


def test_another_digest_is_counted(sound: Any) -> None:
    sent, seen, expected = sound
    report = judged(sent, replace(seen, rebuilt=[replace(seen.dumps[0], memberships=())]), expected)
    assert report.equal_digests == 0
    assert not report.sound


def test_lag_that_stays_is_not_sound(sound: Any) -> None:
    sent, seen, expected = sound
    assert not judged(sent, replace(seen, lag=1), expected).sound
