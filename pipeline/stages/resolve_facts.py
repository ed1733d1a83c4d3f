"""Stage 3: what the statements of an episode mean for what is believed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import ClassVar

import orjson

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactCommit, FactGraph, FactQuery, FactWrite, Look, NearFact, Triplet
from pipeline.graph.port import GraphStore
from pipeline.graph.vector import Vector
from pipeline.model.changes import Change, FactChange
from pipeline.model.entity import Entity, SummaryLine
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.extraction import ResolvedEpisode
from pipeline.model.fact import Fact, with_names
from pipeline.model.judgement import JudgedEpisode, record_of
from pipeline.model.moments import iso
from pipeline.observer import Observer
from pipeline.stages.closing import closure, outdated
from pipeline.stages.comparing import Judged, comparisons, judged, verdicts_of, with_recalled
from pipeline.stages.judging import FactJudge
from pipeline.stages.matching import summary_of
from pipeline.stages.outcome import Outcome, repeat_of
from pipeline.stages.recorded import RecordedFactJudge, Records, counted
from pipeline.stages.same_fact import joined, repeating, same_sentence
from pipeline.stages.stating import Vocabulary, evidence_of, moment_of, stated_by
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.reconcile import Occasion, Reconciled, event_of, reconcile

SUMMARY_LINES = 8
MAX_PAIRS_TOLD = 8


@dataclass(frozen=True)
class ResolveFactsStage:
    """Stores the evidence of an episode and derives anew the intervals of every slot that it touches.

    Rules first: spelling, direction, slot, wording. What is left of statements that were read out of text goes to the
    judge in one call; without a judge nothing is asked. With `records` of an earlier run, what they answer is not asked.
    Sends on `{"changes": [FactChange, …], "touched":
    [entity ids]}`. The episode is `committed` with it.
    """

    name: ClassVar[str] = "resolve_facts"
    store: GraphStore
    embedder: Embedder
    clock: Clock
    observer: Observer
    judge: FactJudge | None = None
    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    near_limit: int = 10
    records: Records | None = None

    async def run(self, event: ResolvedEpisode) -> Outcome:
        """Derive, commit, and answer with the changes to send on. Raises Fenced when another committed."""
        now, meter = self.clock(), Meter.begin()
        stated = evidence_of(event, now, self.vocabulary)
        read = [item for item in stated if not stated_by(item, event).verbatim]
        vectors = await self._vectors(read) if self.judge else {}
        recorded = self._recorded(event)
        recalled = await self._recalled(event, recorded, read)
        query = self._query(event, stated, read, vectors, recalled)
        graph = await self.store.fact_graph(query)
        if graph.mark is not None:
            await self.store.settle(event.episode)
            return repeat_of(graph.mark, EpisodeState.committed, event.usage)

        near = dict(zip((item.id for item in read), graph.near, strict=True))
        found, usage = await self._judged(
            recorded or self.judge, self._by_wording(stated, near), near, recalled, graph
        )
        if recorded:
            counted(self.observer, recorded)
        triplets = _triplets([*found.evidence, *(e for e in graph.evidence if e.symmetric)])
        triplets |= {_triplet_of(fact) for _, fact in found.ended}
        if not triplets <= set(query.triplets):
            # What was found speaks of more than the statements did. The commit is fenced by this second reading.
            graph = await self.store.fact_graph(self._again(event, triplets))
        closings = [
            closure(item, fact, event.episode.group_id, now)
            for item, fact in found.ended
            if outdated(item, fact, graph.evidence)
        ]
        fresh = (*found.evidence, *closings)
        ends = {(t.relation, end) for t in triplets if t.symmetric for end in (t.subject, t.object)}
        names = {i: e.name for i, e in graph.entities.items()}
        occasion = Occasion(event.episode.group_id, event.episode.id, now)
        new_names = {i: names[i] for i in event.renamed if i in names}
        standing = [with_names(fact, new_names) for fact in graph.facts]
        result = reconcile([*graph.evidence, *fresh], standing, names, occasion, ends=ends)
        renamed, told = await self._renamed(new_names, result, occasion)
        created = [f for f in result.facts if f.id in result.created]
        missing = list(dict.fromkeys(f.fact for f in created if f.fact not in vectors))
        if missing:
            vectors |= dict(zip(missing, await self.embedder.embed(missing), strict=True))
        usage += Usage(embeddings=len(vectors)) + meter.usage
        touched = sorted({end.id for f in (*result.facts, *renamed) for end in (f.source, f.target)})
        output = changes_as_output([*result.changes, *told], touched)
        statements = verdicts_of(found, graph.evidence)
        record = record_of(JudgedEpisode(episode=event.episode, stage=self.name, statements=statements))
        await self.store.commit_facts(
            FactCommit(
                episode=event.episode,
                lane_version=graph.lane_version,
                evidence=fresh,
                facts=tuple(
                    FactWrite(f, vectors[f.fact] if f.id in result.created else None)
                    for f in (*result.facts, *renamed)
                ),
                entities=tuple(self._told_anew(graph, result, now)),
                output=output,
                usage=usage,
                at=now,
                judged=record,
            )
        )
        await self.store.settle(event.episode)
        self.observer.spent(event.episode.group_id, usage)
        if closings:
            self.observer.event("facts_closed_by_judge", len(closings))
        return Outcome(EpisodeState.committed, output, usage=event.usage + usage, judged=record)

    def _by_wording(
        self, stated: Sequence[Evidence], near: Mapping[str, Sequence[NearFact]]
    ) -> list[Evidence]:
        """The statements, those that repeat a fact of the same pair in the same words as statements of that fact."""
        result = []
        for item in stated:
            fact = same_sentence(item, near.get(item.id, ()))
            result.append(item if fact is None else repeating(item, fact))
        settled = {item.id for item in stated if item.id not in near}
        settled |= {new.id for old, new in zip(stated, result, strict=True) if new is not old}
        return joined(result, settled)

    def _recorded(self, event: ResolvedEpisode) -> RecordedFactJudge | None:
        if self.records is None:
            return None
        ref = event.episode
        return RecordedFactJudge(ref.group_id, self.records.of(ref.id, self.name), self.judge)

    async def _judged(
        self,
        judge: FactJudge | None,
        items: Sequence[Evidence],
        near: Mapping[str, Sequence[NearFact]],
        recalled: Mapping[str, Sequence[Evidence]],
        graph: FactGraph,
    ) -> tuple[Judged, Usage]:
        shown = {
            item: with_recalled(some, recalled.get(item, ()), graph.facts) for item, some in near.items()
        }
        asked = comparisons(items, shown, graph) if judge else []
        if judge is None or not asked:
            return Judged(tuple(items), ()), Usage()
        verdicts, usage = await judge.compare([question for question, _ in asked])
        found = judged(items, asked, verdicts)
        if found.refused:
            self.observer.event("judge_refused", found.refused)
        return found, usage

    async def _recalled(
        self, event: ResolvedEpisode, recorded: RecordedFactJudge | None, read: Sequence[Evidence]
    ) -> dict[str, tuple[Evidence, ...]]:
        """By statement, evidence for the facts that it was judged to repeat or to end before."""
        wanted = {item.id: tuple(recorded.recall(item)) for item in read} if recorded else {}
        names = list(dict.fromkeys(name for some in wanted.values() for name in some))
        if recorded is None or not names:
            return {}
        found = {e.id: e for e in await self.store.evidence(event.episode.group_id, names)}
        recorded.meet(found.values())
        return {item: tuple(found[n] for n in some if n in found) for item, some in wanted.items()}

    async def _renamed(
        self, names: Mapping[str, str], result: Reconciled, occasion: Occasion
    ) -> tuple[list[Fact], list[FactChange]]:
        """The other facts of entities that have a fuller name now, and what is told of those that are believed."""
        if not names:
            return [], []
        done = {fact.id for fact in result.facts}
        facts = []
        for fact in await self.store.facts_of(occasion.group_id, sorted(names)):
            called = with_names(fact, names)
            if fact.id not in done and called != fact:
                facts.append(called.model_copy(update={"revision": fact.revision + 1}))
        believed = [fact for fact in facts if fact.beliefs[-1].holds]
        return facts, [event_of(Change.supported, fact, occasion) for fact in believed]

    async def _vectors(self, items: Sequence[Evidence]) -> dict[str, Vector]:
        sentences = list(dict.fromkeys(item.fact for item in items))
        if not sentences:
            return {}
        return dict(zip(sentences, await self.embedder.embed(sentences), strict=True))

    def _query(
        self,
        event: ResolvedEpisode,
        stated: Sequence[Evidence],
        read: Sequence[Evidence],
        vectors: Mapping[str, Vector],
        recalled: Mapping[str, Sequence[Evidence]],
    ) -> FactQuery:
        looks = tuple(
            Look(item.subject, item.object, moment_of(item), vectors.get(item.fact)) for item in read
        )
        triplets = _triplets([*stated, *(e for some in recalled.values() for e in some)])
        return replace(self._again(event, triplets), looks=looks, near_limit=self.near_limit)

    def _again(self, event: ResolvedEpisode, triplets: set[Triplet]) -> FactQuery:
        return FactQuery(
            episode=event.episode,
            triplets=tuple(sorted(triplets, key=lambda t: (t.subject, t.relation, t.object, t.symmetric))),
            entity_ids=tuple(dict.fromkeys(r.entity_id for r in event.entities)),
        )

    def _told_anew(self, graph: FactGraph, result: Reconciled, now: datetime) -> Iterable[EntityWrite]:
        """The entities whose summary the changes alter."""
        for entity in graph.entities.values():
            lines = summary_lines(entity, result.changes, now)
            if lines != entity.lines:
                told = entity.model_copy(update={"lines": lines})
                yield EntityWrite(told.model_copy(update={"summary": summary_of(told)}))


def summary_lines(entity: Entity, changes: Iterable[FactChange], now: datetime) -> tuple[SummaryLine, ...]:
    """The lines of an entity after some changes: current facts only, at most `SUMMARY_LINES`, newest last.

    Facts of one sentence over several pairs count once.
    """
    lines = {line.fact_id: line for line in entity.lines}
    for change in changes:
        fact = change.fact
        if entity.id not in (fact.source.id, fact.target.id):
            continue
        lines.pop(fact.id, None)
        if change.change is not Change.retracted and fact.holds_at(now):
            until = f" (until {iso(fact.invalid_at)[:10]})" if fact.invalid_at else ""
            lines[fact.id] = SummaryLine(fact_id=fact.id, text=_sentence(fact.fact) + until)
    newest = list(dict.fromkeys(line.text for line in reversed(lines.values())))[:SUMMARY_LINES]
    return tuple(line for line in lines.values() if line.text in newest)[-SUMMARY_LINES * MAX_PAIRS_TOLD :]


def changes_as_output(changes: Iterable[FactChange], touched: Iterable[str]) -> str:
    """The JSON text that the stage sends on."""
    told = [c.model_dump(mode="json") for c in changes]
    return orjson.dumps({"changes": told, "touched": list(touched)}).decode()


def _triplets(items: Iterable[Evidence]) -> set[Triplet]:
    return {Triplet(e.subject, e.relation, e.object, True, e.symmetric) for e in items}


def _triplet_of(fact: Fact) -> Triplet:
    return Triplet(fact.source.id, fact.relation, fact.target.id, True, fact.symmetric)


def _sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", "。", "！", "？")) else text + "."
