"""When each episode was learned, so that a rebuild tells the history of belief at the times at which it happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pipeline.graph.ledger import KnownEpisode, Ledger
from pipeline.rebuild.log import Place


@dataclass(frozen=True)
class Learned:
    """When the stages of an episode ran: the raw episode stored, its entities resolved, its facts derived."""

    received: datetime
    entities: datetime
    facts: datetime


def learned(places: Sequence[Place], ledger: Ledger, known: Iterable[KnownEpisode]) -> Mapping[str, Learned]:
    """By episode id, the times that the graph remembers; the log's own time where it remembers none.

    `places` are in the order of the log. No episode is learned later than one behind it: one that was dead and
    replayed counts as if it had been learned in its turn.
    """
    stored = {k.id: k.created_at for k in known if k.created_at is not None}
    resolved: dict[str, datetime] = {}
    for one in ledger.contributions.values():
        resolved[one.episode_id] = min(one.at, resolved.get(one.episode_id, one.at))
    derived: dict[str, datetime] = {}
    for item in ledger.evidence.values():
        derived[item.episode_id] = min(item.recorded_at, derived.get(item.episode_id, item.recorded_at))
    # One of which nothing is remembered was learned when the log took it, and not before the one before it.
    told: list[Learned] = []
    for place in places:
        before = told[-1] if told else None
        received = stored.get(place.episode_id, place.at)
        entities = resolved.get(place.episode_id) or max(received, before.entities if before else received)
        facts = derived.get(place.episode_id) or max(entities, before.facts if before else entities)
        told.append(Learned(received, entities, facts))
    found: dict[str, Learned] = {}
    behind: Learned | None = None
    for place, times in zip(reversed(places), reversed(told), strict=True):
        if behind is not None:
            times = Learned(
                min(times.received, behind.received),
                min(times.entities, behind.entities),
                min(times.facts, behind.facts),
            )
        behind = found[place.episode_id] = times
    return found
