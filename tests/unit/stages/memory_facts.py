"""A store in memory for the facts' stage alone: fast enough for property tests, and plain enough to be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pipeline.graph.fact_port import FactCommit, FactGraph, FactQuery, Look, NearFact
from pipeline.graph.mark import Mark
from pipeline.model.episode import EpisodeRef
from pipeline.model.extraction import Cardinality
from pipeline.model.fact import Fact
from pipeline.timeline.evidence import Evidence


@dataclass
class MemoryFacts:
    """Implements the part of `GraphStore` that resolve_facts asks. Every believed fact of an end is near."""

    evidence: dict[str, Evidence] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    marks: dict[str, Mark] = field(default_factory=dict)

    async def fact_graph(self, query: FactQuery) -> FactGraph:
        wanted = {(t.subject, t.relation, t.object) for t in query.triplets}
        for triplet in query.triplets:
            for item in self.evidence.values():
                if item.relation != triplet.relation or item.cardinality is not Cardinality.one:
                    continue
                ends = {triplet.subject, triplet.object} & {item.subject, item.object}
                if item.subject == triplet.subject or (triplet.symmetric and item.symmetric and ends):
                    wanted.add((item.subject, item.relation, item.object))
        found = [e for e in self.evidence.values() if (e.subject, e.relation, e.object) in wanted]
        facts = [f for f in self.facts.values() if (f.source.id, f.relation, f.target.id) in wanted]
        return FactGraph(
            mark=self.marks.get(query.episode.id),
            lane_version=len(self.marks),
            evidence=tuple(found),
            facts=tuple(facts),
            near=tuple(self._near(look) for look in query.looks),
        )

    async def commit_facts(self, commit: FactCommit) -> None:
        assert commit.lane_version == len(self.marks)
        self.marks[commit.episode.id] = Mark(commit.output)
        self.evidence |= {e.id: e for e in commit.evidence}
        self.facts |= {w.fact.id: w.fact for w in commit.facts}

    async def settle(self, episode: EpisodeRef) -> None:
        assert episode.id in self.marks

    def _near(self, look: Look) -> tuple[NearFact, ...]:
        ends = {look.subject, look.object}
        near = [f for f in self.facts.values() if ends & {f.source.id, f.target.id} and f.beliefs[-1].holds]
        return tuple(NearFact(f, "") for f in near)

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"resolve_facts does not ask {name}")
