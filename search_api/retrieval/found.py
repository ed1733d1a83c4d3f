"""What a search found, before it is written down as an answer or as a context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipeline.graph.search import Candidates, GraphReader, Item, Scope, StoredEpisode
from pipeline.model.fact import Fact, FactView, view
from search_api.hyperedges import Shown, members, pairs_of, siblings
from search_api.retrieval.ranked import Ranked


@dataclass(frozen=True)
class Hit:
    """An item with its score; for a fact, also the belief to show.

    `pairs`: those over which one sentence states it, its own first. `whole`: none that is known is missing there.
    `replaced`: what held in its slot before, of each pair; filled when it was asked for.
    """

    item: Item
    score: float
    shown: FactView | None = None
    pairs: tuple[FactView, ...] = ()
    whole: bool = True
    replaced: tuple[FactView, ...] = ()


@dataclass(frozen=True)
class Found:
    """Hits by scope, best first, and what could not be used and why."""

    hits: dict[Scope, tuple[Hit, ...]] = field(default_factory=dict)
    degraded: tuple[str, ...] = ()


def visible(candidates: Candidates, scope: Scope, known_at: datetime | None) -> dict[str, Hit]:
    """The candidates of a scope that were known at `known_at`, by key, facts with the belief of that time."""
    hits: dict[str, Hit] = {}
    for key, item in candidates.items.get(scope, {}).items():
        if isinstance(item, Fact):
            if (shown := view(item, known_at)) is not None:
                hits[key] = Hit(item, 0.0, shown)
        elif known_at is None or item.created_at <= known_at:
            hits[key] = Hit(item, 0.0)
    return hits


async def with_pairs(
    reader: GraphReader, hits: tuple[Hit, ...], known_at: datetime | None, as_of: datetime | None
) -> tuple[Hit, ...]:
    """The hits, those that one sentence states over several pairs with the pairs."""
    found = await siblings(reader, (s for hit in hits if (s := _shared(hit)) is not None))
    made = []
    for hit in hits:
        if (shared := _shared(hit)) is not None:
            pairs, whole = pairs_of(shared, members(found, shared), known_at, as_of)
            hit = replace(hit, pairs=pairs, whole=whole)
        made.append(hit)
    return tuple(made)


def _shared(hit: Hit) -> Shown | None:
    if isinstance(hit.item, Fact) and hit.shown is not None and hit.shown.hyperedge is not None:
        return hit.item, hit.shown
    return None


def told_once(order: Ranked, shown: Mapping[str, Hit]) -> Ranked:
    """An order of keys without the facts that say the same sentence, over another pair, as a better one."""
    told: set[tuple[str, str]] = set()
    kept = []
    for key, score in order:
        shared = _shared(shown[key])
        if shared is not None:
            name = (shared[0].group_id, shared[1].hyperedge or "")
            if name in told:
                continue
            told.add(name)
        kept.append((key, score))
    return tuple(kept)


def hit_id(hit: Hit) -> str:
    """The id of what was found, of any scope; the shared one for a fact over several pairs."""
    if isinstance(hit.item, StoredEpisode):
        return hit.item.episode.id
    return (hit.shown.hyperedge if hit.shown and hit.pairs else None) or hit.item.id


def readable(item: Item) -> str:
    """An item as a text that a model can read."""
    if isinstance(item, Fact):
        return item.fact
    if isinstance(item, StoredEpisode):
        return item.episode.text
    return f"{item.name}: {item.summary}"
