"""What a search found, before it is written down as an answer or as a context."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.graph.search import Candidates, Item, Scope, StoredEpisode
from pipeline.model.fact import Fact, FactView, view


@dataclass(frozen=True)
class Hit:
    """An item with its score; for a fact, also the belief to show."""

    item: Item
    score: float
    shown: FactView | None = None


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


def item_id(item: Item) -> str:
    """The id of an item of any scope."""
    return item.episode.id if isinstance(item, StoredEpisode) else item.id


def readable(item: Item) -> str:
    """An item as a text that a model can read."""
    if isinstance(item, Fact):
        return item.fact
    if isinstance(item, StoredEpisode):
        return item.episode.text
    return f"{item.name}: {item.summary}"
