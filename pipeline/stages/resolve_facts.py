"""Stage 3: what the statements of an episode mean for what is believed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

import orjson

from pipeline.clock import Clock
from pipeline.embedding.port import Embedder
from pipeline.graph.port import EntityWrite, FactCommit, FactGraph, FactQuery, FactWrite, GraphStore, Triplet
from pipeline.identity import stable_id
from pipeline.model.changes import Change, FactChange
from pipeline.model.entity import Entity, SummaryLine
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.extraction import ResolvedEpisode
from pipeline.model.fact import FactView
from pipeline.model.moments import iso
from pipeline.observer import Observer
from pipeline.stages.matching import summary_of
from pipeline.stages.outcome import Outcome
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, Reconciled, reconcile

SUMMARY_LINES = 8


@dataclass(frozen=True)
class ResolveFactsStage:
    """Stores the evidence of an episode and derives anew the intervals of every slot that it touches.

    Sends on `{"changes": [FactChange, …], "touched": [entity ids]}`. The episode is `committed` with it.
    """

    name: ClassVar[str] = "resolve_facts"
    store: GraphStore
    embedder: Embedder
    clock: Clock
    observer: Observer

    async def run(self, event: ResolvedEpisode) -> Outcome:
        """Derive, commit, and answer with the changes to send on. Raises Fenced when another committed."""
        graph = await self.store.fact_graph(self._query(event))
        if graph.mark is not None:
            await self.store.settle(event.episode)
            return Outcome(EpisodeState.committed, graph.mark.output, event.usage, repeated=True)

        now = self.clock()
        fresh = evidence_of(event, now)
        names = {i: e.name for i, e in graph.entities.items()}
        occasion = Occasion(event.episode.group_id, event.episode.id, now)
        result = reconcile([*graph.evidence, *fresh], graph.facts, names, occasion)
        sentences = [f.fact for f in result.facts if f.id in result.created]
        vectors = await self.embedder.embed(sentences) if sentences else []
        embedding_of = dict(zip((f.id for f in result.facts if f.id in result.created), vectors, strict=True))
        usage = Usage(embeddings=len(sentences))
        touched = sorted({end.id for f in result.facts for end in (f.source, f.target)})
        output = changes_as_output(result.changes, touched)
        await self.store.commit_facts(
            FactCommit(
                episode=event.episode,
                lane_version=graph.lane_version,
                evidence=tuple(fresh),
                facts=tuple(FactWrite(f, embedding_of.get(f.id)) for f in result.facts),
                entities=tuple(self._told_anew(graph, result, now)),
                output=output,
                usage=usage,
                at=now,
            )
        )
        await self.store.settle(event.episode)
        return Outcome(EpisodeState.committed, output, usage=event.usage + usage)

    def _query(self, event: ResolvedEpisode) -> FactQuery:
        def end(index: int) -> str:
            return event.entities[index].entity_id

        triplets = {
            Triplet(end(s.subject), s.relation, end(s.object), whole_slot=True) for s in event.statements
        }
        return FactQuery(
            episode=event.episode,
            triplets=tuple(sorted(triplets, key=lambda t: (t.subject, t.relation, t.object))),
            entity_ids=tuple(dict.fromkeys(r.entity_id for r in event.entities)),
        )

    def _told_anew(self, graph: FactGraph, result: Reconciled, now: datetime) -> Iterable[EntityWrite]:
        """The entities whose summary the changes alter."""
        for entity in graph.entities.values():
            lines = summary_lines(entity, result.changes, now)
            if lines != entity.lines:
                told = entity.model_copy(update={"lines": lines})
                yield EntityWrite(told.model_copy(update={"summary": summary_of(told)}))


def evidence_of(event: ResolvedEpisode, now: datetime) -> list[Evidence]:
    """The evidence that an episode leaves; its ids depend on group, episode and place only."""
    ref = event.episode
    return [
        Evidence(
            id=stable_id("evidence", ref.group_id, ref.id, str(index)),
            episode_id=ref.id,
            subject=event.entities[statement.subject].entity_id,
            relation=statement.relation,
            object=event.entities[statement.object].entity_id,
            subject_name=event.entities[statement.subject].name,
            object_name=event.entities[statement.object].name,
            kind=statement.kind,
            cardinality=statement.cardinality,
            fact=statement.fact,
            attributes=statement.attributes,
            valid_at=statement.valid_at,
            valid_at_precision=statement.valid_at_precision,
            invalid_at=statement.invalid_at,
            invalid_at_precision=statement.invalid_at_precision,
            reference_time=ref.reference_time,
            sequence=ref.sequence,
            index=index,
            recorded_at=now,
        )
        for index, statement in enumerate(event.statements)
    ]


def summary_lines(entity: Entity, changes: Iterable[FactChange], now: datetime) -> tuple[SummaryLine, ...]:
    """The lines of an entity after some changes: current facts only, at most `SUMMARY_LINES`, newest last."""
    lines = {line.fact_id: line for line in entity.lines}
    for change in changes:
        fact = change.fact
        if entity.id not in (fact.source.id, fact.target.id):
            continue
        lines.pop(fact.id, None)
        if change.change is not Change.retracted and _holds(fact, now):
            until = f" (until {iso(fact.invalid_at)[:10]})" if fact.invalid_at else ""
            lines[fact.id] = SummaryLine(fact_id=fact.id, text=_sentence(fact.fact) + until)
    return tuple(lines.values())[-SUMMARY_LINES:]


def changes_as_output(changes: Iterable[FactChange], touched: Iterable[str]) -> str:
    """The JSON text that the stage sends on."""
    told = [c.model_dump(mode="json") for c in changes]
    return orjson.dumps({"changes": told, "touched": list(touched)}).decode()


def _holds(fact: FactView, now: datetime) -> bool:
    return (fact.valid_at is None or fact.valid_at <= now) and (
        fact.invalid_at is None or now < fact.invalid_at
    )


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "！", "？")) else text + "."
