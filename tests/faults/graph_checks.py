"""What must be true of one group in the graph, compared with the same group of an undisturbed run."""

from __future__ import annotations

import itertools
from collections import Counter
from dataclasses import dataclass
from typing import Any

from pipeline.graph.digest import GroupDump, summary
from tests.faults.load import COUNTER
from tests.faults.report import Report


@dataclass(frozen=True)
class Expected:
    """What an undisturbed run has made of one variant of the input, and where its counter must end."""

    dump: GroupDump
    last_step: str


def structure(report: Report, dump: GroupDump) -> None:
    """Nothing stands twice in the graph, and memberships agree with what the entities say of themselves."""
    kinds = {
        "episode": [e.episode.id for e in dump.episodes],
        "entity": [(e.name, e.type) for e in dump.entities],
        "evidence": [e.id for e in dump.evidence],
        "statement": [(e.episode_id, e.index, e.rule) for e in dump.evidence],
        "mention": list(dump.mentions),
        "membership": [entity for _, entity in dump.memberships],
        "support": [(f.id, s.evidence_id) for f in dump.facts for s in f.support if s.known_to is None],
    }
    for kind, things in kinds.items():
        for thing, times in Counter(things).items():
            if times > 1:
                report.twice.append(f"{dump.group_id}: {kind} {thing} {times} times")
    told = {e.id: e.community_id for e in dump.entities if e.community_id}
    if {entity: community for community, entity in dump.memberships} != told:
        report.untrue.append(f"{dump.group_id}: memberships and entities disagree")


def recorded(report: Report, dump: GroupDump, replayed: frozenset[str]) -> None:
    """Evidence was learned in the order of the log."""
    learned = sorted(
        (e.sequence, e.recorded_at, e.episode_id) for e in dump.evidence if e.episode_id not in replayed
    )
    for before, after in itertools.pairwise(learned):
        if before[0] < after[0] and before[1] > after[1]:
            report.out_of_order.append(f"{dump.group_id}: {after[2]} was learned before {before[2]}")


def content(report: Report, dump: GroupDump, wanted: GroupDump) -> None:
    """The same episodes, entities, evidence, mentions and facts as without any fault."""
    for kind, found, undisturbed in zip(
        ("episodes", "entities", "evidence", "mentions", "facts"), _things(dump), _things(wanted), strict=True
    ):
        for thing in (undisturbed - found).elements():
            report.lost.append(f"{dump.group_id}: {kind} {thing}")
        for thing in (found - undisturbed).elements():
            report.twice.append(f"{dump.group_id}: {kind} {thing} is one too many")


def differences(report: Report, dump: GroupDump, wanted: GroupDump) -> None:
    """Where two digests differ, in words."""
    found, undisturbed = summary(dump), summary(wanted)
    for part, things in undisturbed.items():
        missing = [thing for thing in things if thing not in found[part]]
        added = [thing for thing in found[part] if thing not in things]
        if missing or added:
            report.untrue.append(f"{dump.group_id}: {part} are {added}, undisturbed {missing}")


def _things(dump: GroupDump) -> tuple[Counter[Any], ...]:
    names = {e.id: e.name for e in dump.entities}
    return (
        Counter((e.episode.id, e.state.value) for e in dump.episodes),
        Counter((e.name, e.type) for e in dump.entities),
        Counter(
            (e.episode_id, e.index, e.kind.value, names.get(e.subject), e.relation, names.get(e.object))
            for e in dump.evidence
        ),
        Counter((episode, names.get(entity)) for episode, entity in dump.mentions),
        Counter(
            (names.get(f.source.id), f.relation, names.get(f.target.id), str(f.beliefs[-1].valid_at))
            for f in dump.facts
            if f.beliefs[-1].holds
        ),
    )


def counter(report: Report, dump: GroupDump, last_step: str) -> None:
    """The slot of the counter stands open at the last value, and only there."""
    names = {e.id: e.name for e in dump.entities}
    stands = [
        names.get(f.target.id)
        for f in dump.facts
        if (names.get(f.source.id), f.relation) == COUNTER
        and f.beliefs[-1].holds
        and f.beliefs[-1].invalid_at is None
    ]
    if stands != [last_step]:
        report.out_of_order.append(f"the counter of {dump.group_id} stands at {stands}, not at {last_step}")
