"""The timeline of a symmetric relation, such as MARRIED_TO. Pure: no I/O, no clock.

Its values are pairs. Where a statement has cardinality `one`, pairs exclude each other when they share an end: of both
ends, each has one partner at a time. At each start, the newest statement that touches either end of a pair decides
whether the pair stands there. Everything else is as in a slot, so all that holds there holds here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from pipeline.timeline.evidence import Evidence
from pipeline.timeline.slot import Segment, additive, cells, exclusive_values, standing_starts, total_order

Pair = tuple[str, str]


def pair_timelines(evidence: Iterable[Evidence]) -> dict[Pair, list[Segment]]:
    """The segments of each pair that `evidence` (all of one symmetric relation) speaks of, oldest first.

    A pair's segments are right when all evidence that touches either of its ends is there.
    """
    ordered = total_order(evidence)
    by_pair: dict[Pair, list[Evidence]] = defaultdict(list)
    by_end: dict[str, list[Evidence]] = defaultdict(list)
    exclusive = exclusive_values(ordered, pair_of)
    for item in ordered:
        pair = pair_of(item)
        by_pair[pair].append(item)
        if pair in exclusive:
            for end in set(pair):
                by_end[end].append(item)
    return {pair: _segments(pair, items, exclusive, by_end) for pair, items in by_pair.items()}


def pair_of(item: Evidence) -> Pair:
    """The ends of a symmetric statement, in the order in which they are kept."""
    return (item.subject, item.object)


def _segments(
    pair: Pair, items: list[Evidence], exclusive: set[Pair], by_end: dict[str, list[Evidence]]
) -> list[Segment]:
    if pair not in exclusive:
        return additive(items)
    distinct = {e.id: e for end in pair for e in by_end[end]}
    touching = sorted(distinct.values(), key=lambda e: (e.order, e.id))
    return cells(pair, items, standing_starts(touching), pair_of)
