"""One sentence over several pairs is shown once: one id that they share, and the pairs.

Each pair is a fact with evidence and a timeline of its own; what is put together here is how they are told.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from pipeline.graph.search import GraphReader
from pipeline.model.fact import Fact, FactView, view

Key = tuple[str, str]
"""Group and shared id."""
Shown = tuple[Fact, FactView]


async def siblings(reader: GraphReader, shown: Iterable[Shown]) -> dict[Key, Sequence[Fact]]:
    """All facts of the hyperedges that occur; one question for each group that has any, none otherwise."""
    wanted: dict[str, dict[str, None]] = defaultdict(dict)
    for fact, seen in shown:
        if seen.hyperedge is not None:
            wanted[fact.group_id].setdefault(seen.hyperedge)
    found: dict[Key, list[Fact]] = defaultdict(list)
    for group, ids in wanted.items():
        for fact in await reader.hyperedges(group, list(ids)):
            if fact.hyperedge is not None:
                found[group, fact.hyperedge].append(fact)
    return dict(found)


def pairs_of(
    first: Shown, facts: Iterable[Fact], known_at: datetime | None, as_of: datetime | None
) -> tuple[tuple[FactView, ...], bool]:
    """The pairs of a hyperedge that were believed at `known_at` to hold at `as_of` (None: at any time), `first` before
    the others, which come by start and names; and whether that is all that were believed at all."""
    fact, shown = first
    others = [
        seen
        for one in facts
        if one.id != fact.id
        and (seen := view(one, known_at)) is not None
        and seen.hyperedge == shown.hyperedge
    ]
    holding = [seen for seen in others if as_of is None or seen.holds_at(as_of)]
    holding.sort(key=lambda s: (s.valid_at is not None, s.valid_at, s.source.name, s.target.name, s.id))
    return (shown, *holding), len(holding) == len(others)


def each_once(shown: Sequence[Shown], known_at: datetime | None) -> list[Shown]:
    """The facts in their order, of each hyperedge only the first that is believed, at the place of its first."""
    chosen: dict[Key, Shown] = {}
    for fact, seen in shown:
        if seen.hyperedge is None:
            continue
        key = (fact.group_id, seen.hyperedge)
        held = chosen.get(key)
        if held is None or (view(held[0], known_at) is None and view(fact, known_at) is not None):
            chosen[key] = (fact, seen)
    told: set[Key] = set()
    result: list[Shown] = []
    for fact, seen in shown:
        key = (fact.group_id, seen.hyperedge or "")
        if seen.hyperedge is None:
            result.append((fact, seen))
        elif key not in told:
            told.add(key)
            result.append(chosen[key])
    return result


def members(found: Mapping[Key, Sequence[Fact]], shown: Shown) -> Sequence[Fact]:
    """The facts of the hyperedge that a fact is shown under."""
    return found.get((shown[0].group_id, shown[1].hyperedge or ""), ())
