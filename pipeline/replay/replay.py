"""Replay: a log through the stages into a graph, with what judges and extractors have said before."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import orjson

from pipeline.clock import Clock
from pipeline.errors import Poison
from pipeline.graph.extraction_port import ExtractionCommit
from pipeline.model.episode import EpisodeState
from pipeline.model.extraction import ExtractedEpisode, Extraction, ResolvedEpisode
from pipeline.model.judgement import JudgedEpisode
from pipeline.observer import Observer
from pipeline.replay.counting import Counting
from pipeline.replay.logged import LoggedEpisode, in_log_order
from pipeline.stages.extract import ExtractStage
from pipeline.stages.recorded import Nobody, Records
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage


@dataclass(frozen=True)
class Replayed:
    """What a replay did: episodes by the state in which they ended.

    `unrecorded` counts questions of judges that had no record, `lost` verdicts of the record whose entity or fact is
    not there this time, or that structure no longer allows.
    """

    states: Mapping[EpisodeState, int]
    unrecorded: int = 0
    lost: int = 0

    @property
    def episodes(self) -> int:
        """How many episodes were replayed."""
        return sum(self.states.values())


@dataclass(frozen=True)
class Replay:
    """Tells a log to the store of its stages, one episode after the other.

    What is kept of an episode's extraction stands; an episode of which nothing is kept is given to the extractor of
    `extract` when `asks_extractor` is set, and counts as one that says nothing otherwise. Judges answer from the
    record; what has no record is asked of the judges of the stages when `asks_judges` is set, and is answered by
    "neither" otherwise. With both unset no model is asked.

    Every step may be repeated: what the graph holds already is found by its marks. A verdict is put into the new
    graph's record again. Nothing is sent anywhere.
    """

    extract: ExtractStage
    resolve_entities: ResolveEntitiesStage
    resolve_facts: ResolveFactsStage
    update_communities: UpdateCommunitiesStage
    asks_extractor: bool = False
    asks_judges: bool = False

    async def run(self, episodes: Iterable[LoggedEpisode], judged: Iterable[JudgedEpisode] = ()) -> Replayed:
        """All episodes, in the order of their own sequence whatever the order given, and then the communities.

        Args:
            episodes: of any groups; see `logged`.
            judged: what the judges said about them, in any order; of several records of one stage of an episode the
                last given stands. Records are found by the episode's id alone, so the group may be another one.

        Raises Retryable, and Poison that names the episode when one cannot be replayed.
        """
        counting = Counting(self.resolve_entities.observer)
        line = self._line(Records(judged), counting)
        states: Counter[EpisodeState] = Counter()
        groups: dict[str, None] = {}
        for one in in_log_order(episodes):
            groups[one.episode.group_id] = None
            try:
                states[await line._one(one)] += 1
            except Poison as poison:
                raise Poison(f"episode {one.episode.id!r}: {poison}", poison.field) from poison
        for group_id in groups:
            await self.update_communities.rebuild_between(group_id)
        return Replayed(states, counting.events["judge_unrecorded"], counting.events["judge_lost"])

    def _line(self, records: Records, observer: Observer) -> Replay:
        """The same with the record put before the judges."""
        entities, facts = self.resolve_entities, self.resolve_facts
        nobody = Nobody()
        return replace(
            self,
            resolve_entities=replace(
                entities,
                judge=(self.asks_judges and entities.judge) or nobody,
                records=records,
                observer=observer,
            ),
            resolve_facts=replace(
                facts, judge=(self.asks_judges and facts.judge) or nobody, records=records, observer=observer
            ),
        )

    async def _one(self, one: LoggedEpisode) -> EpisodeState:
        clock = self.extract.clock if one.at is None else _at(one)
        extract = replace(self.extract, clock=clock)
        received = await extract.admit(one.episode)
        episode = received.stored
        if one.dead is not None and one.extraction is None:
            await extract.store.mark_dead(episode.group_id, episode.id, one.dead)
            return EpisodeState.dead
        if one.extraction is None and self.asks_extractor:
            outcome = await extract.commit(received, await extract.prepare(received))
            if outcome.output is None:
                return outcome.state
            event = ExtractedEpisode.model_validate_json(outcome.output)
        else:
            extraction = one.extraction or Extraction()
            event = ExtractedEpisode(episode=episode.ref, extraction=extraction)
            if await self._extracted(event) is EpisodeState.skipped:
                return EpisodeState.skipped
        if one.dead is not None:
            await extract.store.mark_dead(episode.group_id, episode.id, one.dead)
            return EpisodeState.dead
        return await self._resolved(event, clock)

    async def _extracted(self, event: ExtractedEpisode) -> EpisodeState:
        """What was said, committed as it stands. It was paid for before, so it counts to no day of the group."""
        empty = event.extraction.empty
        state = EpisodeState.skipped if empty else EpisodeState.extracted
        output = None if empty else event.model_dump_json()
        await self.extract.store.commit_extraction(
            ExtractionCommit(event.episode, state, output, event.extraction.usage)
        )
        return state

    async def _resolved(self, event: ExtractedEpisode, clock: Clock) -> EpisodeState:
        entities = await replace(self.resolve_entities, clock=clock).run(event)
        touched: list[str] = []
        if entities.output is None:
            # The stage behind has committed the episode before.
            await self.resolve_facts.store.settle(event.episode)
        else:
            resolved = ResolvedEpisode.model_validate_json(entities.output)
            facts = await replace(self.resolve_facts, clock=clock).run(resolved)
            touched = orjson.loads(facts.output)["touched"] if facts.output else []
        await replace(self.update_communities, clock=clock).run(event.episode, touched)
        return EpisodeState.committed


def _at(one: LoggedEpisode) -> Clock:
    moment = one.at
    assert moment is not None  # noqa: S101
    return lambda: moment
