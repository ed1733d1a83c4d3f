"""Line: one episode through the four stages in one process, from wherever it stopped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import orjson

from pipeline.graph.entity_port import EntityQuery
from pipeline.graph.extraction_port import Received
from pipeline.graph.fact_port import FactQuery
from pipeline.graph.port import GraphStore
from pipeline.model.episode import Episode, EpisodeRef, EpisodeState
from pipeline.model.extraction import ExtractedEpisode, Extraction, ResolvedEpisode
from pipeline.stages.extract import ExtractStage
from pipeline.stages.resolve_entities import ResolveEntitiesStage
from pipeline.stages.resolve_facts import ResolveFactsStage
from pipeline.stages.update_communities import UpdateCommunitiesStage


@dataclass(frozen=True)
class Resolved:
    """How far an episode has come. `touched` are the entities whose communities are behind; None: none are."""

    state: EpisodeState
    touched: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Line:
    """The stages one after the other. Every step may be repeated: what is committed is found by its mark.

    What a stage would send on through Kafka is handed to the next one here; when the mark says that the next stage
    had it before, that stage's own mark is read instead.
    """

    store: GraphStore
    extract: ExtractStage
    resolve_entities: ResolveEntitiesStage
    resolve_facts: ResolveFactsStage
    update_communities: UpdateCommunitiesStage

    async def admit(self, episode: Episode) -> Received:
        """Store the raw episode and read its thread; in the order of the group."""
        return await self.extract.admit(episode)

    async def prepare(self, received: Received) -> Extraction | None:
        """Ask the extractor; any number side by side."""
        return await self.extract.prepare(received)

    async def resolve(self, received: Received, extraction: Extraction | None) -> Resolved:
        """Extraction, entities and facts committed, in the order of the group."""
        episode = received.stored.ref
        outcome = await self.extract.commit(received, extraction)
        if outcome.state is EpisodeState.skipped:
            return Resolved(EpisodeState.skipped)
        output = outcome.output
        if output is not None:
            resolved = (await self.resolve_entities.run(ExtractedEpisode.model_validate_json(output))).output
        else:
            view = await self.store.entity_view(EntityQuery(episode, (), (), ()))
            if view.mark is None:
                # An extraction that found nothing has a mark without an output, too.
                return Resolved(EpisodeState.skipped)
            resolved = view.mark.output
        return Resolved(EpisodeState.committed, _touched(await self._facts(episode, resolved)))

    async def settle_communities(self, behind: Sequence[tuple[EpisodeRef, tuple[str, ...]]]) -> None:
        """Bring the communities of one group up to date with several of its episodes, in one pass.

        The last episode carries all touched entities and is committed first: if the process ends in between, the
        others come again with their own.
        """
        if not behind:
            return
        touched = sorted({entity for _, some in behind for entity in some})
        last = behind[-1][0]
        await self.update_communities.run(last, touched)
        for episode, _ in behind[:-1]:
            await self.update_communities.run(episode, ())

    async def _facts(self, episode: EpisodeRef, resolved: str | None) -> str | None:
        if resolved is not None:
            return (await self.resolve_facts.run(ResolvedEpisode.model_validate_json(resolved))).output
        graph = await self.store.fact_graph(FactQuery(episode, (), ()))
        await self.store.settle(episode)
        return graph.mark.output if graph.mark else None


def _touched(output: str | None) -> tuple[str, ...] | None:
    """None when nothing changed, and when the communities have been settled before."""
    told = orjson.loads(output) if output is not None else {"changes": []}
    return tuple(told["touched"]) if told["changes"] else None
