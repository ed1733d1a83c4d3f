"""What a fact replaced: the value that held in its slot before, where a slot holds one value at a time."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime

from pipeline.graph.search import GraphReader, Scope, SlotStart
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Fact, FactView, view
from search_api.retrieval.found import Found, Hit

_START_OF_TIME = datetime.min.replace(tzinfo=UTC)


async def with_replaced(reader: GraphReader, found: Found, known_at: datetime | None) -> Found:
    """What was found, its facts with what they replaced; one question for each group that has a fact of that kind.

    That is the last to end of the other values of the slot that were believed at `known_at` to have ended when the
    fact starts, whether or not there is a gap between. A fact without a known start has replaced nothing.
    """
    hits = found.hits.get(Scope.facts, ())
    wanted: dict[str, dict[SlotStart, None]] = defaultdict(dict)
    for hit in hits:
        wanted[_group(hit)].update(dict.fromkeys(_starts(hit)))
    stored = {
        group: await reader.values_before(group, list(starts), known_at)
        for group, starts in wanted.items()
        if starts
    }
    told = tuple(
        replace(hit, replaced=tuple(_before(_starts(hit), stored.get(_group(hit), ()), known_at)))
        for hit in hits
    )
    return replace(found, hits={**found.hits, Scope.facts: told})


def _group(hit: Hit) -> str:
    return hit.item.group_id if isinstance(hit.item, Fact) else ""


def _starts(hit: Hit) -> Iterator[SlotStart]:
    fact = hit.item
    if not isinstance(fact, Fact) or hit.shown is None or fact.cardinality != Cardinality.one.value:
        return
    for seen in hit.pairs or (hit.shown,):
        if seen.valid_at is not None:
            yield SlotStart(seen.source.id, seen.relation, seen.target.id, seen.valid_at, fact.symmetric)


def _before(
    starts: Iterable[SlotStart], facts: Iterable[Fact], known_at: datetime | None
) -> Iterator[FactView]:
    """The last of the values before each start, each fact once."""
    seen = [
        shown
        for fact in facts
        if fact.cardinality == Cardinality.one.value and (shown := view(fact, known_at)) is not None
    ]
    told: set[str] = set()
    for start in starts:
        earlier = [one for one in seen if _ended(one, start)]
        last = max(earlier, key=_by_end, default=None)
        if last is not None and last.id not in told:
            told.add(last.id)
            yield last


def _ended(shown: FactView, start: SlotStart) -> bool:
    if shown.relation != start.relation or shown.invalid_at is None or shown.invalid_at > start.start:
        return False
    own, other = {start.source, start.target}, {shown.source.id, shown.target.id}
    if start.symmetric:
        return own != other and bool(own & other)
    return shown.source.id == start.source and shown.target.id != start.target


def _by_end(shown: FactView) -> tuple[datetime, datetime, str]:
    return shown.invalid_at or _START_OF_TIME, shown.valid_at or _START_OF_TIME, shown.id
