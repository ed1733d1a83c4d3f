"""Compares what was acknowledged with all that can be seen afterwards. Pure: it is given everything that it looks at."""

from __future__ import annotations

import base64
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from pipeline.graph.digest import GroupDump, digest
from pipeline.model.changes import Change, FactChange
from pipeline.model.fact import FactView, view
from tests.faults import graph_checks
from tests.faults.graph_checks import Expected
from tests.faults.load import Sent
from tests.faults.report import Report

ENDED = {"committed", "skipped"}


@dataclass(frozen=True)
class Seen:
    """All records of the topics, in order inside a partition, and the groups as the graph has them.

    `dumps` are taken before the communities were rebuilt, `rebuilt` after: step by step they depend on what came when.
    """

    log: Sequence[Any]
    statuses: Sequence[Any]
    changes: Sequence[Any]
    dead: Sequence[Any]
    dumps: Sequence[GroupDump]
    rebuilt: Sequence[GroupDump]
    lag: int


def compare(
    report: Report,
    published: Sequence[Sent],
    seen: Seen,
    expected: dict[str, Expected],
    *,
    replayed: frozenset[str] = frozenset(),
) -> None:
    """Writes all findings into the report. `expected` is by group; groups without are not compared with it.

    Episodes that an operator has `replayed` are out of order by nature; what the graph says of them is not.
    """
    report.acknowledged, report.lag = len(published), seen.lag
    report.dead = len({_place(r) for r in seen.dead})
    _log(report, published, seen)
    _ends(report, published, seen)
    _dead_letters(report, seen)
    _states(report, seen, replayed)
    _stream(report, seen)
    for dump, rebuilt in zip(seen.dumps, seen.rebuilt, strict=True):
        graph_checks.structure(report, dump)
        graph_checks.recorded(report, dump, replayed)
        if (wanted := expected.get(dump.group_id)) is not None:
            report.groups += 1
            report.equal_digests += digest(rebuilt) == digest(wanted.dump)
            graph_checks.differences(report, rebuilt, wanted.dump)
            graph_checks.content(report, dump, wanted.dump)
            graph_checks.counter(report, dump, wanted.last_step)


def _log(report: Report, published: Sequence[Sent], seen: Seen) -> None:
    """Everything acknowledged is in the log, each group's in the order in which it was acknowledged."""
    places: dict[tuple[bytes, Any], int] = {}
    for place, record in enumerate(seen.log):
        for name in {_identity(record.value), record.value}:
            places.setdefault((record.key or b"", name), place)
    last: dict[bytes, int] = defaultdict(lambda: -1)
    for sent in dict.fromkeys(published):
        place = places.get((sent.key, sent.episode or sent.value))
        if place is None:
            report.lost.append(
                f"acknowledged and not in the log: {sent.group} {sent.episode or sent.value[:60]!r}"
            )
        elif place < last[sent.key]:
            report.out_of_order.append(f"log of {sent.group}: {sent.episode}")
        else:
            last[sent.key] = place


def _ends(report: Report, published: Sequence[Sent], seen: Seen) -> None:
    """Each acknowledged episode has ended in the graph, or stands in the dead letters with a reason."""
    states = {(d.group_id, e.episode.id): e.state.value for d in seen.dumps for e in d.episodes}
    buried = {_place(r): orjson.loads(r.value) for r in seen.dead}
    episodes = {
        (str(letter["event"].get("group_id")), str(letter["event"].get("id")))
        for letter in buried.values()
        if isinstance(letter.get("event"), dict) and letter["error"]
    }
    for sent in dict.fromkeys(published):
        if sent.episode is None:
            continue
        state = states.get((sent.group, sent.episode), "unknown")
        if state not in ENDED and not (state == "dead" and (sent.group, sent.episode) in episodes):
            report.lost.append(f"{sent.group} {sent.episode} is {state}")
    bad = {(s.key, s.value) for s in published if s.episode is None}
    for record in seen.log:
        if (record.key or b"", record.value or b"") not in bad:
            continue
        letter = buried.get((record.topic, record.partition, record.offset))
        if letter is None or not letter["error"]:
            report.lost.append(f"no dead letter for {record.topic}/{record.partition}/{record.offset}")
        elif _original(letter) != _meaning(record.value):
            report.untrue.append(
                f"the dead letter of {record.partition}/{record.offset} differs from its event"
            )


def _dead_letters(report: Report, seen: Seen) -> None:
    """A crash may repeat a dead letter, but then it is the same letter of the same event."""
    letters: dict[Any, set[tuple[Any, Any]]] = defaultdict(set)
    for record in seen.dead:
        letter = orjson.loads(record.value)
        letters[_place(record)].add((letter["stage"], _original(letter)))
    for place, kinds in letters.items():
        if len(kinds) > 1:
            report.twice.append(f"{place} was buried as two different things")


STATES = ("received", "extracted", "resolved", "dead", "skipped", "committed")
"""From the first to the last: a dead episode that is replayed may be committed, never the other way round."""


def _states(report: Report, seen: Seen, replayed: frozenset[str]) -> None:
    """The furthest status is the state in the graph; a group's episodes were committed in the order of the log.

    Not the last one: a worker that was frozen before it told a state tells it when it wakes up, after the others.
    """
    order: dict[str, list[str]] = defaultdict(list)
    for record in seen.log:
        identity = _identity(record.value)
        if isinstance(identity, str) and identity not in order[record.key.decode("utf-8", "replace")]:
            order[record.key.decode("utf-8", "replace")].append(identity)
    first: dict[str, list[str]] = defaultdict(list)
    furthest: dict[tuple[str, str], str] = {}
    for record in seen.statuses:
        body = orjson.loads(record.value)
        group, episode = body["group_id"], body["episode_id"]
        if STATES.index(body["state"]) >= STATES.index(furthest.get((group, episode), STATES[0])):
            furthest[group, episode] = body["state"]
        if body["state"] == "committed" and episode not in first[group] and episode not in replayed:
            first[group].append(episode)
    for group, committed in first.items():
        wanted = [e for e in order[group] if e in set(committed)]
        if committed != wanted:
            report.out_of_order.append(f"{group} was committed as {committed}")
    for dump in seen.dumps:
        for stored in dump.episodes:
            told = furthest.get((dump.group_id, stored.episode.id))
            if told != stored.state.value:
                report.untrue.append(
                    f"status of {dump.group_id} {stored.episode.id} is {told}, the graph says {stored.state.value}"
                )


def _stream(report: Report, seen: Seen) -> None:
    """Whoever folds `facts.changes` from the beginning has exactly the current facts."""
    revisions: dict[tuple[str, str], int] = {}
    held: dict[tuple[str, str], FactView] = {}
    groups = {dump.group_id for dump in seen.dumps}
    for record in seen.changes:
        try:
            change = FactChange.model_validate_json(record.value)
        except ValueError:
            continue  # a poison event of a scenario
        if change.group_id not in groups:
            continue
        place = (change.group_id, change.fact.id)
        if change.revision <= revisions.get(place, 0):
            continue
        if change.revision != revisions.get(place, 0) + 1:
            report.lost.append(f"facts.changes: {place} has revision {change.revision} too early")
        revisions[place] = change.revision
        if change.change is Change.retracted:
            held.pop(place, None)
        else:
            held[place] = change.fact
    current = {(d.group_id, f.id): told for d in seen.dumps for f in d.facts if (told := view(f)) is not None}
    for place in current.keys() - held.keys():
        report.lost.append(f"facts.changes does not tell of fact {place}")
    for place in held.keys() - current.keys():
        report.untrue.append(f"facts.changes tells of {place}, which the graph does not hold")
    for place in held.keys() & current.keys():
        if held[place] != current[place]:
            report.untrue.append(f"facts.changes and the graph differ about {place}")


def _place(record: Any) -> tuple[str, int, int]:
    letter = orjson.loads(record.value)
    return (letter["topic"], letter["partition"], letter["offset"])


def _original(letter: dict[str, Any]) -> bytes:
    if "event_base64" in letter:
        return base64.b64decode(letter["event_base64"])
    return _meaning(orjson.dumps(letter["event"]))


def _meaning(value: bytes | None) -> bytes:
    """A record's value, without the spacing of its JSON; a tombstone is `null`."""
    try:
        return orjson.dumps(orjson.loads(b"null" if value is None else value))
    except orjson.JSONDecodeError:
        return value or b""


def _identity(value: bytes | None) -> Any:
    """What says that two records are the same event: the episode's id, or all of what has none."""
    try:
        body = orjson.loads(value or b"null")
    except orjson.JSONDecodeError:
        return value
    return body["id"] if isinstance(body, dict) and isinstance(body.get("id"), str) else value
