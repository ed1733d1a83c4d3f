"""What an installation has left of the story in some groups, and whether that is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pipeline.graph.digest import GroupDump
from streams.topics import CHANGES, DEAD, STATUS
from tests.integration.pipeline import story
from tests.integration.pipeline.checks import (
    communities_of,
    current,
    folded,
    in_order,
    last_states,
    nothing_lost_nothing_twice,
)
from tests.integration.pipeline.running import Running


@dataclass
class Outcome:
    """The groups before and after their communities were rebuilt, and all records that came out."""

    killed: bool
    exit_code: int
    before_rebuild: list[GroupDump]
    after_rebuild: list[GroupDump]
    statuses: list[Any]
    changes: list[Any]
    dead: list[Any]


async def told_outcome(
    installation: Running, groups: Sequence[str], *, killed: bool = False, exit_code: int = 0
) -> Outcome:
    """Read everything, once no worker runs any more."""
    before = [await installation.dump(group) for group in groups]
    for group in groups:
        await installation.rebuild_communities(group)
    return Outcome(
        killed=killed,
        exit_code=exit_code,
        before_rebuild=before,
        after_rebuild=[await installation.dump(group) for group in groups],
        statuses=await installation.records(STATUS),
        changes=await installation.records(CHANGES),
        dead=await installation.records(DEAD),
    )


def check(outcome: Outcome) -> None:
    """Graph and stream say what the story says, once."""
    assert outcome.exit_code == 0
    assert outcome.dead == []
    for dump in outcome.before_rebuild:
        nothing_lost_nothing_twice(dump)
    for dump in outcome.after_rebuild:
        assert communities_of(dump) == sorted(story.COMMUNITIES, key=sorted)
    assert folded(outcome.changes) == current(outcome.before_rebuild)


def check_statuses(outcome: Outcome) -> None:
    """Whoever follows the states sees every episode end, and a group's episodes reach each state in order."""
    groups = [dump.group_id for dump in outcome.before_rebuild]
    assert last_states(outcome.statuses) == {
        (group, episode): state for group in groups for episode, state in story.STATES.items()
    }
    published = list(dict.fromkeys(e["id"] for e in story.story("any")))
    for state in ("extracted", "resolved", "committed"):
        for group, order in in_order(outcome.statuses, state).items():
            assert order == [e for e in published if e in order], (group, state)
