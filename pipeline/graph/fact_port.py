"""What the resolve_facts stage asks of a store, what it is answered, and what it commits."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.mark import Mark
from pipeline.graph.vector import Vector
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeRef, Usage
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence

SCANNED_FACTS = 1000
"""How many facts of one entity are compared with a statement, whatever the size of the graph."""
SOURCE_CHARACTERS = 500
"""How much of an episode's content goes with a fact."""


@dataclass(frozen=True)
class Triplet:
    """A (subject, relation, object) that an episode speaks of; `whole_slot` when its cardinality is one.

    `symmetric`: the relation holds from both ends, so each end has a slot of its own.
    """

    subject: str
    relation: str
    object: str
    whole_slot: bool
    symmetric: bool = False


@dataclass(frozen=True)
class Look:
    """A look for facts that may say the same as a statement, or contradict it.

    Found are facts between `subject` and `object`, in either direction, and, with a `vector`, those of either end
    that hold at `at` (timeline T), nearest to the vector first.
    """

    subject: str
    object: str
    at: datetime
    vector: Vector | None = None


@dataclass(frozen=True)
class NearFact:
    """A fact that a look found, with the beginning of the content of the last episode that supports it."""

    fact: Fact
    source: str


@dataclass(frozen=True)
class FactQuery:
    """What the resolve_facts stage needs to know before it decides. Each look finds at most `near_limit` facts."""

    episode: EpisodeRef
    triplets: tuple[Triplet, ...]
    entity_ids: tuple[str, ...]
    looks: tuple[Look, ...] = ()
    near_limit: int = 10


@dataclass(frozen=True)
class FactGraph:
    """Answer to a FactQuery.

    `evidence`: all evidence of each triplet, and for a whole slot also that of every triplet of the same
    (subject, relation) of which some evidence has cardinality `one`; for a symmetric whole slot, that of every
    symmetric triplet of the relation that shares an end and of which some evidence has cardinality `one`. `facts`:
    every fact (believed or not) of the triplets that occur in `evidence`. `entities`: those asked for and the ends of
    `facts`, by id.
    `near[i]`: what look i found, all of it believed now: facts of the pair first, newest first, then of either end
    (of which at most `SCANNED_FACTS` are compared), most similar first. `source`: the beginning of the content of the
    episode itself, when there are looks. A beginning has at most `SOURCE_CHARACTERS`.
    """

    mark: Mark | None
    lane_version: int
    evidence: tuple[Evidence, ...] = ()
    facts: tuple[Fact, ...] = ()
    entities: dict[str, Entity] = field(default_factory=dict)
    near: tuple[tuple[NearFact, ...], ...] = ()
    source: str = ""


@dataclass(frozen=True)
class FactWrite:
    """A fact to create or overwrite (all of it, with its history), with its embedding when it is new (None: keep)."""

    fact: Fact
    fact_embedding: Vector | None = None


@dataclass(frozen=True)
class FactCommit:
    """What the resolve_facts stage commits. The state becomes `committed` with `settle`. `judged` is kept under the
    mark."""

    episode: EpisodeRef
    lane_version: int
    evidence: tuple[Evidence, ...]
    facts: tuple[FactWrite, ...]
    entities: tuple[EntityWrite, ...]
    output: str
    usage: Usage
    at: datetime
    judged: str | None = None
