"""Stage 2: which entities the mentions of an episode stand for."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.graph.entity_port import EntityCommit, EntityQuery, EntityView, EntityWrite
from pipeline.graph.port import GraphStore
from pipeline.identity import entity_key
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.extraction import ExtractedEpisode, Mention, ResolvedEpisode, ResolvedMention
from pipeline.model.judgement import (
    JudgedEpisode,
    Judgement,
    MentionVerdict,
    Named,
    named_entity,
    named_mention,
    record_of,
)
from pipeline.observer import Observer
from pipeline.stages.judging import EntityJudge, LookAlike, may_be_same
from pipeline.stages.matching import bearing, choose, enriched, keys_of, new_entity, type_of
from pipeline.stages.outcome import Outcome, repeat_of
from pipeline.stages.provenance import judged_merge, told_of
from pipeline.stages.recorded import RecordedEntityJudge, Records, counted
from pipeline.stages.telling_as_one import admitted, as_one
from pipeline.text.analysis import search_text


@dataclass(frozen=True)
class ResolveEntitiesStage:
    """Resolves all mentions of an episode together: rules first, one call of the judge for what is left.

    Without a judge nothing is compared by likeness: what the rules cannot join stays apart. What the judge was asked
    and what counted of its answers is committed with the rest, so that a replay needs no judge: with `records` of an
    earlier run, what they answer is not asked. Without records or judge no name is compared, and none embedded for it.
    """

    name: ClassVar[str] = "resolve_entities"
    store: GraphStore
    embedder: Embedder
    clock: Clock
    observer: Observer
    judge: EntityJudge | None = None
    look_alikes: int = 10
    records: Records | None = None

    async def run(self, event: ExtractedEpisode) -> Outcome:
        """Resolve, commit, and answer with a `ResolvedEpisode` to send on. Raises Fenced when another committed."""
        meter = Meter.begin()
        mentions = event.extraction.mentions
        vectors = await self._name_vectors(mentions) if self.judge else {}
        recorded = self._recorded(event)
        recalled = _recalled(recorded, mentions)
        view = await self.store.entity_view(self._query(event, vectors, recalled))
        if view.mark is not None:
            return repeat_of(view.mark, EpisodeState.resolved, event.extraction.usage)

        now = self.clock()
        usage = Usage(embeddings=len(vectors))
        chosen, touched = self._by_rules(event, view)
        judged: dict[int, Judgement] = {}
        verdicts: list[MentionVerdict] = []
        if judge := recorded or self.judge:
            questions = self._questions(event, view, recalled, chosen)
            verdicts, cost = await self._by_judgement(event, judge, questions, chosen, touched, judged)
            usage += cost
        if recorded:
            counted(self.observer, recorded)
        for index, mention in enumerate(mentions):
            if index not in chosen:
                taken = {e.id for e in view.by_key[index]} | touched.keys()
                made = self._settle(mention, event, touched, taken, now)
                chosen[index] = made.id

        known = {e.id: e for found in (*view.by_key, *view.similar) for e in found}
        fresh = {i: e.name for i, e in touched.items() if i not in known or e.name != known[i].name}
        missing = list(dict.fromkeys(name for name in fresh.values() if name not in vectors))
        if missing:
            vectors |= dict(zip(missing, await self.embedder.embed(missing), strict=True))
            usage += Usage(embeddings=len(missing))
        resolved = tuple(
            ResolvedMention(entity_id=chosen[i], name=touched[chosen[i]].name) for i in range(len(mentions))
        )
        usage += meter.usage
        so_far = event.extraction.usage + usage
        output = ResolvedEpisode(
            episode=event.episode,
            entities=resolved,
            statements=event.extraction.statements,
            renamed=tuple(sorted(fresh.keys() & known.keys())),
            usage=so_far,
        ).model_dump_json()
        writes = tuple(
            EntityWrite(e, vectors[e.name] if e.id in fresh else None)
            for e in touched.values()
            if e.id not in known or e != known[e.id]
        )
        commit = EntityCommit(
            episode=event.episode,
            lane_version=view.lane_version,
            entities=writes,
            mentioned=tuple(dict.fromkeys(chosen[i] for i in range(len(mentions)))),
            output=output,
            usage=usage,
            at=now,
            told=told_of(event, chosen, judged),
            judged=record_of(JudgedEpisode(episode=event.episode, stage=self.name, mentions=tuple(verdicts))),
            merges=tuple(
                judged_merge(event, index, chosen[index], known[chosen[index]], now)
                for index in sorted(judged)
            ),
        )
        await self.store.commit_entities(commit)
        self.observer.spent(event.episode.group_id, usage)
        return Outcome(EpisodeState.resolved, output, usage=so_far, judged=commit.judged)

    def _recorded(self, event: ExtractedEpisode) -> RecordedEntityJudge | None:
        if self.records is None:
            return None
        return RecordedEntityJudge(self.records.of(event.episode.id, self.name), self.judge)

    def _query(
        self, event: ExtractedEpisode, vectors: dict[str, list[float]], recalled: Mapping[int, Named]
    ) -> EntityQuery:
        """What may be meant by the mentions; behind them, what is recalled, by its key."""
        mentions, more = event.extraction.mentions, len(recalled)
        return EntityQuery(
            episode=event.episode,
            keys=(*(keys_of(m) for m in mentions), *((name.key,) for name in recalled.values())),
            texts=(*(search_text(m.name, *m.aliases) if self.judge else "" for m in mentions), *[""] * more),
            vectors=(*(vectors.get(m.name) for m in mentions), *[None] * more),
            limit=self.look_alikes,
        )

    def _by_rules(
        self, event: ExtractedEpisode, view: EntityView
    ) -> tuple[dict[int, str], dict[str, Entity]]:
        """Mentions that stand for an entity that is known already; typed ones first, since they say more."""
        mentions = event.extraction.mentions
        chosen: dict[int, str] = {}
        touched: dict[str, Entity] = {}
        order = sorted(range(len(mentions)), key=lambda i: (type_of(mentions[i]) is None, i))
        for index in order:
            candidates = [touched.get(e.id, e) for e in view.by_key[index]]
            entity = choose(mentions[index], candidates)
            if entity is not None:
                touched[entity.id] = enriched(entity, mentions[index])
                chosen[index] = entity.id
        return chosen, touched

    def _questions(
        self,
        event: ExtractedEpisode,
        view: EntityView,
        recalled: Mapping[int, Named],
        chosen: Collection[int],
    ) -> list[LookAlike]:
        """What the rules left and something resembles, or was judged to be before."""
        mentions = event.extraction.mentions
        again = {
            index: bearing(name, view.by_key[len(mentions) + place])
            for place, (index, name) in enumerate(recalled.items())
        }
        questions = []
        for index, mention in enumerate(mentions):
            if index in chosen:
                continue
            first = again.get(index)
            alike = [first] if first is not None else []
            alike += [e for e in view.similar[index] if first is None or e.id != first.id]
            if shown := tuple(e for e in alike if may_be_same(mention, e)):
                questions.append(LookAlike(index, mention, shown))
        return questions

    async def _by_judgement(
        self,
        event: ExtractedEpisode,
        judge: EntityJudge,
        questions: Sequence[LookAlike],
        chosen: dict[int, str],
        touched: dict[str, Entity],
        judged: dict[int, Judgement],
    ) -> tuple[list[MentionVerdict], Usage]:
        """One call for all questions; answers what is to be kept of it."""
        if not questions:
            return [], Usage()
        mentions = event.extraction.mentions
        answers, usage = await judge.same(questions)
        allowed = {q.index: {e.id: e for e in q.candidates} for q in questions}
        same: dict[int, Entity] = {}
        for index, answer in sorted(answers.items()):
            entity = allowed.get(index, {}).get(answer.entity_id)
            if entity is None:
                # A verdict about something that was not asked is no verdict.
                self.observer.event("judge_wrong_id")
                continue
            before = touched.get(entity.id, entity)
            judged[index] = admitted(before, mentions[index], answer.judgement)
            if _refused(answer.judgement, judged[index], before):
                self.observer.event("judge_refused")
            touched[entity.id] = as_one(before, mentions[index], judged[index])
            chosen[index] = entity.id
            same[index] = entity
            self.observer.event("entities_merged")
        kept = [
            MentionVerdict(
                mention=named_mention(q.mention),
                same=named_entity(same[q.index]) if q.index in same else None,
                judgement=judged.get(q.index, Judgement()),
            )
            for q in questions
        ]
        return kept, usage

    def _settle(
        self,
        mention: Mention,
        event: ExtractedEpisode,
        touched: dict[str, Entity],
        taken: Collection[str],
        now: datetime,
    ) -> Entity:
        """A new entity, or the one that another mention of the same episode has just become."""
        keys = set(keys_of(mention))
        same = choose(mention, [e for e in touched.values() if keys & set(e.keys)])
        group_id = event.episode.group_id
        entity = enriched(same, mention) if same else new_entity(mention, group_id, now, taken)
        touched[entity.id] = entity
        return entity

    async def _name_vectors(self, mentions: tuple[Mention, ...]) -> dict[str, list[float]]:
        names = list(dict.fromkeys(m.name for m in mentions))
        return dict(zip(names, await self.embedder.embed(names), strict=True)) if names else {}


def _refused(proposed: Judgement, counts: Judgement, entity: Entity) -> bool:
    """Whether something of a proposal does not count that is not said already."""
    kept = entity_key(proposed.name or "") in ("", entity_key(entity.name))
    told = (proposed.summary or "") in ("", entity.description)
    return (counts.name is None and not kept) or (counts.summary is None and not told)


def _recalled(recorded: RecordedEntityJudge | None, mentions: Sequence[Mention]) -> dict[int, Named]:
    """By mention, the entity that it was judged to be before."""
    found = {index: recorded.recall(mention) for index, mention in enumerate(mentions)} if recorded else {}
    return {index: name for index, name in found.items() if name is not None}
