"""Stage 2: which entities the mentions of an episode stand for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.graph.port import EntityCommit, EntityQuery, EntityView, EntityWrite, GraphStore
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.extraction import ExtractedEpisode, Mention, ResolvedEpisode, ResolvedMention
from pipeline.observer import Observer
from pipeline.stages.judging import EntityJudge, LookAlike, may_be_same
from pipeline.stages.matching import choose, enriched, keys_of, new_entity, type_of
from pipeline.stages.outcome import Outcome
from pipeline.stages.provenance import judged_merge, told_of
from pipeline.text.analysis import search_text


@dataclass(frozen=True)
class ResolveEntitiesStage:
    """Resolves all mentions of an episode together: rules first, one call of the judge for what is left.

    Without a judge nothing is compared by likeness: what the rules cannot join stays apart.
    """

    name: ClassVar[str] = "resolve_entities"
    store: GraphStore
    embedder: Embedder
    clock: Clock
    observer: Observer
    judge: EntityJudge | None = None
    look_alikes: int = 10

    async def run(self, event: ExtractedEpisode) -> Outcome:
        """Resolve, commit, and answer with a `ResolvedEpisode` to send on. Raises Fenced when another committed."""
        meter = Meter.begin()
        mentions = event.extraction.mentions
        vectors = await self._name_vectors(mentions) if self.judge else {}
        view = await self.store.entity_view(self._query(event, vectors))
        if view.mark is not None:
            return Outcome(EpisodeState.resolved, view.mark.output, event.extraction.usage, repeated=True)

        now = self.clock()
        usage = Usage(embeddings=len(vectors))
        chosen, touched = self._by_rules(event, view)
        ruled = set(chosen)
        if self.judge:
            usage += await self._by_judgement(event, view, chosen, touched)
        judged = set(chosen) - ruled
        for index, mention in enumerate(mentions):
            if index not in chosen:
                taken = {e.id for e in view.by_key[index]} | touched.keys()
                made = self._settle(mention, event, touched, taken, now)
                chosen[index] = made.id

        known = {e.id: e for found in (*view.by_key, *view.similar) for e in found}
        fresh = [e for i, e in touched.items() if i not in known]
        missing = [e.name for e in fresh if e.name not in vectors]
        if missing:
            vectors |= dict(zip(missing, await self.embedder.embed(missing), strict=True))
            usage += Usage(embeddings=len(missing))
        resolved = tuple(
            ResolvedMention(entity_id=chosen[i], name=touched[chosen[i]].name) for i in range(len(mentions))
        )
        usage += meter.usage
        so_far = event.extraction.usage + usage
        output = ResolvedEpisode(
            episode=event.episode, entities=resolved, statements=event.extraction.statements, usage=so_far
        ).model_dump_json()
        writes = tuple(
            EntityWrite(e, vectors[e.name] if e.id not in known else None)
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
            merges=tuple(
                judged_merge(event, index, chosen[index], known[chosen[index]], now)
                for index in sorted(judged)
            ),
        )
        await self.store.commit_entities(commit)
        self.observer.spent(event.episode.group_id, usage)
        return Outcome(EpisodeState.resolved, output, usage=so_far)

    def _query(self, event: ExtractedEpisode, vectors: dict[str, list[float]]) -> EntityQuery:
        mentions = event.extraction.mentions
        return EntityQuery(
            episode=event.episode,
            keys=tuple(keys_of(m) for m in mentions),
            texts=tuple(search_text(m.name, *m.aliases) if self.judge else "" for m in mentions),
            vectors=tuple(vectors.get(m.name) for m in mentions),
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

    async def _by_judgement(
        self, event: ExtractedEpisode, view: EntityView, chosen: dict[int, str], touched: dict[str, Entity]
    ) -> Usage:
        """One call for all mentions that the rules left and that something resembles."""
        if self.judge is None:
            return Usage()
        mentions = event.extraction.mentions
        questions = [
            LookAlike(index, mentions[index], alike)
            for index in range(len(mentions))
            if index not in chosen
            and (alike := tuple(e for e in view.similar[index] if may_be_same(mentions[index], e)))
        ]
        if not questions:
            return Usage()
        verdicts, usage = await self.judge.same(questions)
        allowed = {q.index: {e.id: e for e in q.candidates} for q in questions}
        for index, entity_id in verdicts.items():
            entity = allowed.get(index, {}).get(entity_id)
            if entity is None:
                # A verdict about something that was not asked is no verdict.
                self.observer.event("judge_wrong_id")
                continue
            touched[entity.id] = enriched(touched.get(entity.id, entity), mentions[index])
            chosen[index] = entity.id
            self.observer.event("entities_merged")
        return usage

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
