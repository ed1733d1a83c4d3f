"""Evidence: what an episode says about one fact. It is stored; belief is derived from it."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict

from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.model.fact import Shared
from pipeline.model.moments import Moment
from pipeline.timeline.precision import Precision

Order = tuple[float, int, int]
"""Total order of evidence: reference time, arrival in the group's log, place in the episode."""


class Evidence(BaseModel):
    """One statement about (subject, relation, object), with its place in the total order.

    `subject` and `object` are entity ids; their names are those that the entities had then.
    Asserting evidence holds from `valid_at` (None: unknown start) to `invalid_at` (None: no end stated). Closing
    evidence says that at `invalid_at` the fact no longer held. `rule` names what made it: "statement" for what an
    episode says itself, "judge" for a closure that a model found. `recorded_at` is when the system learned it.
    `corrects` are ids of evidence that an operator set right: what it says of the interval counts for them too, or,
    when it asserts nothing, they count no more.
    `symmetric`: the relation holds from both ends alike; subject and object then stand in the order of their ids.
    `hyperedge` is the id that it shares with the statements of its episode that say the same sentence of other pairs.
    `additive`: the relation is declared to have many values, so no other statement may end it but its own closing.
    """

    model_config = ConfigDict(frozen=True)

    id: str
    episode_id: str
    subject: str
    relation: str
    object: str
    subject_name: str = ""
    object_name: str = ""
    kind: StatementKind = StatementKind.asserts
    cardinality: Cardinality = Cardinality.many
    symmetric: bool = False
    additive: bool = False
    fact: str = ""
    attributes: dict[str, Any] = {}
    valid_at: Moment | None = None
    valid_at_precision: Precision | None = None
    invalid_at: Moment | None = None
    invalid_at_precision: Precision | None = None
    reference_time: Moment
    sequence: int
    index: int = 0
    rule: str = "statement"
    hyperedge: Shared = None
    corrects: tuple[str, ...] = ()
    recorded_at: Moment

    @property
    def order(self) -> Order:
        """Later is newer, and newer information wins."""
        return (self.reference_time.timestamp(), self.sequence, self.index)
