"""A fact: one edge of the graph, with what was believed of it at any time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from pipeline.model.moments import Moment
from pipeline.timeline.precision import Precision

Shared = Annotated[str | None, Field(exclude_if=lambda shared: shared is None)]
"""The id that facts share when one sentence states them over several pairs; left out of JSON where there is none."""


class EntityRef(BaseModel):
    """One end of a fact."""

    model_config = ConfigDict(frozen=True)

    id: str
    name: str


class Belief(BaseModel):
    """What the system believed of a fact from `known_from` on, until the next belief.

    `holds` is False when it was believed at no time (its evidence was taken back, outdone, or joined to another
    fact). Otherwise it held for `valid_at <= t < invalid_at`; None is unbounded.
    """

    model_config = ConfigDict(frozen=True)

    known_from: Moment
    holds: bool = True
    valid_at: Moment | None = None
    valid_at_precision: Precision | None = None
    invalid_at: Moment | None = None
    invalid_at_precision: Precision | None = None
    closed_by: str | None = None
    closing_rule: str | None = None

    def holds_at(self, moment: datetime) -> bool:
        """Whether the fact was believed to hold then (timeline T)."""
        return self.holds and _covers(self.valid_at, self.invalid_at, moment)

    def same_interval(self, other: Belief) -> bool:
        """True when both say the same about when the fact holds."""
        return (self.holds, self.valid_at, self.invalid_at) == (other.holds, other.valid_at, other.invalid_at)


class Support(BaseModel):
    """A piece of evidence that states a fact, and for which stretch the system counted it for this fact.

    `hyperedge` is the evidence's own. `known_to` is None while it counts. Evidence moves when late news joins two facts or splits one.
    """

    model_config = ConfigDict(frozen=True)

    episode_id: str
    evidence_id: str = ""
    hyperedge: Shared = None
    known_from: Moment
    known_to: Moment | None = None

    def counted_at(self, known_at: datetime | None) -> bool:
        """Whether it counted at a moment (None: now)."""
        if known_at is None:
            return self.known_to is None
        return self.known_from <= known_at and (self.known_to is None or known_at < self.known_to)


class Fact(BaseModel):
    """A fact with its history of beliefs, oldest first; never empty. `revision` counts its changes.

    `symmetric` and `additive` when the evidence for it is: the former holds from both ends alike, the latter is closed
    by a statement of its own end only.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    group_id: str
    source: EntityRef
    target: EntityRef
    relation: str
    fact: str
    cardinality: str = "many"
    symmetric: bool = False
    additive: bool = False
    attributes: dict[str, Any] = {}
    beliefs: tuple[Belief, ...]
    support: tuple[Support, ...] = ()
    revision: int = 1

    def episodes_at(self, known_at: datetime | None = None) -> tuple[str, ...]:
        """The episodes that supported the fact at a moment (None: now), in order, each once."""
        return tuple(dict.fromkeys(s.episode_id for s in self.support if s.counted_at(known_at)))

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        """The evidence that is counted for the fact now, in order."""
        return tuple(s.evidence_id for s in self.support if s.known_to is None)

    def hyperedge_at(self, known_at: datetime | None = None) -> str | None:
        """The id that the fact shared at a moment (None: now) with those of the same sentence over other pairs."""
        return next((s.hyperedge for s in self.support if s.hyperedge and s.counted_at(known_at)), None)

    @property
    def hyperedge(self) -> str | None:
        """The id that it shares now, or shared last; what it is found by."""
        return self.hyperedge_at() or next((s.hyperedge for s in reversed(self.support) if s.hyperedge), None)

    def belief_at(self, known_at: datetime | None = None) -> Belief | None:
        """What was believed at a moment (None: now); None when the fact was not known yet."""
        known = [b for b in self.beliefs if known_at is None or b.known_from <= known_at]
        return known[-1] if known else None


class FactView(BaseModel):
    """A fact as an answer shows it: one belief, flattened. This is the object of contracts, on Kafka and over HTTP.

    `hyperedge` is there when one sentence states the fact over several pairs; all of them share it.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    fact: str
    relation: str
    source: EntityRef
    target: EntityRef
    valid_at: Moment | None
    valid_at_precision: Precision | None = None
    invalid_at: Moment | None
    invalid_at_precision: Precision | None = None
    created_at: Moment
    expired_at: Moment | None
    episodes: tuple[str, ...]
    attributes: dict[str, Any] = {}
    hyperedge: Shared = None

    def holds_at(self, moment: datetime) -> bool:
        """Whether it holds then (timeline T)."""
        return _covers(self.valid_at, self.invalid_at, moment)


def _covers(valid_at: datetime | None, invalid_at: datetime | None, moment: datetime) -> bool:
    return (valid_at is None or valid_at <= moment) and (invalid_at is None or moment < invalid_at)


def with_names(fact: Fact, names: Mapping[str, str]) -> Fact:
    """The fact with the names of its ends where `names` has them, by entity id."""
    ends = {"source": fact.source, "target": fact.target}
    called = {
        side: EntityRef(id=end.id, name=names[end.id])
        for side, end in ends.items()
        if names.get(end.id, end.name) != end.name
    }
    return fact.model_copy(update=called) if called else fact


def view(fact: Fact, known_at: datetime | None = None) -> FactView | None:
    """The fact as believed at a moment; None when it was not known or believed to hold at no time.

    `created_at` is when the fact was first learned; `expired_at` when it was learned that it no longer holds.
    """
    belief = fact.belief_at(known_at)
    if belief is None or not belief.holds:
        return None
    return _flatten(fact, belief, known_at)


def last_view(fact: Fact) -> FactView:
    """The fact as last believed to hold, with the time at which that ended in `expired_at`; for reads by id."""
    current = fact.beliefs[-1]
    if current.holds:
        return _flatten(fact, current, None)
    held = next((b for b in reversed(fact.beliefs) if b.holds), current)
    return _flatten(fact, held, None).model_copy(update={"expired_at": current.known_from})


def _flatten(fact: Fact, belief: Belief, known_at: datetime | None) -> FactView:
    learned_end = belief.invalid_at is not None and belief.invalid_at <= belief.known_from
    return FactView(
        id=fact.id,
        fact=fact.fact,
        relation=fact.relation,
        source=fact.source,
        target=fact.target,
        valid_at=belief.valid_at,
        valid_at_precision=belief.valid_at_precision,
        invalid_at=belief.invalid_at,
        invalid_at_precision=belief.invalid_at_precision,
        created_at=fact.beliefs[0].known_from,
        expired_at=belief.known_from if learned_end else None,
        episodes=fact.episodes_at(known_at),
        attributes=fact.attributes,
        hyperedge=fact.hyperedge_at(known_at),
    )
