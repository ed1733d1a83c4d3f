"""What must be true of a group and of the topics after anything has happened."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import orjson

from pipeline.graph.digest import GroupDump
from pipeline.model.changes import Change, FactChange
from pipeline.model.fact import FactView, view
from tests.integration.pipeline import story


def nothing_lost_nothing_twice(dump: GroupDump) -> None:
    """The story stands in the graph once."""
    states = {e.episode.id: e.state.value for e in dump.episodes}
    assert states == story.STATES
    assert len(dump.episodes) == len(states)
    assert Counter(e.name for e in dump.entities) == Counter(story.ENTITIES)
    names = {e.id: e.name for e in dump.entities}
    assert len(dump.evidence) == len({e.id for e in dump.evidence}) == story.EVIDENCE
    assert len(dump.mentions) == len(set(dump.mentions)) == story.MENTIONS
    found = {
        (names[f.source.id], f.relation, names[f.target.id]): (
            day(f.beliefs[-1].valid_at),
            day(f.beliefs[-1].invalid_at),
            sorted(f.episodes_at()),
        )
        for f in dump.facts
        if f.beliefs[-1].holds
    }
    assert found == story.FACTS
    assert sum(f.beliefs[-1].holds for f in dump.facts) == len(story.FACTS)
    for fact in dump.facts:
        assert [b.known_from for b in fact.beliefs] == sorted(b.known_from for b in fact.beliefs)
        supports = [(s.episode_id, s.evidence_id) for s in fact.support if s.known_to is None]
        assert len(supports) == len(set(supports))
    one_community_each(dump)


def one_community_each(dump: GroupDump) -> None:
    """Every entity is in at most one community, and says the same of itself."""
    assert len(dump.memberships) == len({entity for _, entity in dump.memberships})
    told = {e.id: e.community_id for e in dump.entities if e.community_id}
    assert {entity: community for community, entity in dump.memberships} == told


def communities_of(dump: GroupDump) -> list[set[str]]:
    """The partition by names, in a fixed order."""
    names = {e.id: e.name for e in dump.entities}
    members: dict[str, set[str]] = defaultdict(set)
    for community, entity in dump.memberships:
        members[community].add(names[entity])
    return sorted(members.values(), key=sorted)


def folded(records: Sequence[Any]) -> dict[tuple[str, str], FactView]:
    """What a consumer of `facts.changes` has after reading all of it, by (group, fact id); older repeats dropped."""
    revisions: dict[tuple[str, str], int] = {}
    held: dict[tuple[str, str], FactView] = {}
    for record in records:
        change = FactChange.model_validate_json(record.value)
        place = (change.group_id, change.fact.id)
        assert record.key == change.group_id.encode()
        if change.revision <= revisions.get(place, 0):
            continue
        assert change.revision == revisions.get(place, 0) + 1, "a change is missing"
        revisions[place] = change.revision
        if change.change is Change.retracted:
            held.pop(place, None)
        else:
            held[place] = change.fact
    return held


def current(dumps: Iterable[GroupDump]) -> dict[tuple[str, str], FactView]:
    """What the graph holds, as the stream tells it."""
    return {(d.group_id, f.id): told for d in dumps for f in d.facts if (told := view(f)) is not None}


def last_states(records: Sequence[Any]) -> dict[tuple[str, str], str]:
    """The last status of each episode."""
    bodies = [orjson.loads(record.value) for record in records]
    return {(b["group_id"], b["episode_id"]): b["state"] for b in bodies}


def in_order(records: Sequence[Any], state: str) -> dict[str, list[str]]:
    """Per group, the episodes in the order in which they first reached a state."""
    order: dict[str, list[str]] = defaultdict(list)
    for record in records:
        body = orjson.loads(record.value)
        if body["state"] == state and body["episode_id"] not in order[body["group_id"]]:
            order[body["group_id"]].append(body["episode_id"])
    return order


def day(moment: Any) -> str | None:
    return moment.date().isoformat() if moment else None
