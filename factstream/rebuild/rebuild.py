"""Rebuild: fills the shadow of a group, and swaps it in when it has caught up."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from factstream.rebuild.leasing import Leasing
from factstream.rebuild.parts import (
    From,
    Options,
    Progress,
    RebuildRefused,
    Rebuilt,
    Report,
    Swapped,
    Tools,
)
from factstream.rebuild.plan import Plan, plan
from factstream.rebuild.said import Said
from factstream.rebuild.scratch import Scratch
from factstream.rebuild.shadow import Shadow
from factstream.rebuild.swap import Swap, swap_of, unsent
from pipeline.errors import Fenced, Poison, Retryable
from pipeline.graph.ledger import FORGOTTEN, KnownEpisode, Ledger
from pipeline.model.episode import FINAL_STATES
from pipeline.model.extraction import ExtractedEpisode, Extraction
from pipeline.rebuild.acts import Act, acts_of, is_done, operators_episodes
from pipeline.rebuild.log import Place
from pipeline.rebuild.times import Learned, learned
from pipeline.stages.recorded import Records

CHUNK = 64
"""Episodes that are read and extracted together."""
PASSES = 5
"""Times that the shadow catches up before the group is held for what is left."""
ATTEMPTS = 20


@dataclass(frozen=True)
class _Seen:
    """The live graph as it was read, and what follows for the shadow."""

    ledger: Ledger
    live: Mapping[str, KnownEpisode]
    places: Sequence[Place]
    plan: Plan
    acts: Sequence[Act]


@dataclass
class Rebuild:
    """The rebuild of one group. Run it once.

    While the shadow is filled the live graph takes in episodes as ever. At the end commits of the group wait for the
    seconds that it takes to tell the shadow the rest and to write the difference, in one transaction.
    """

    group_id: str
    tools: Tools
    options: Options
    report: Report = lambda _: None
    _set_aside: dict[str, str] = field(default_factory=dict)

    async def run(self) -> Rebuilt:
        """Fill, swap, tell, tidy up. Raises RebuildRefused when it cannot be done, Retryable when something is away;
        run again, it goes on where it was."""
        started = time.monotonic()
        with Scratch(self.options, self.group_id) as scratch:
            async with Leasing(self.tools.store, self.group_id, scratch.token) as leasing:
                await self._publish_unsent()
                said = Said(scratch.said) if self.options.source is From.raw else None
                shadow = Shadow(scratch.graph, self.group_id, self.tools, said)
                await shadow.open()
                try:
                    for _ in range(PASSES):
                        if not await self._catch_up(shadow, await self._look(), held=False):
                            break
                    await leasing.hold()
                    held = time.monotonic()
                    swap, seen = await self._swap_in(shadow, scratch.token)
                    waited = time.monotonic() - held
                    await leasing.let_go()
                    if swap.notice is not None:
                        await self._publish(swap.swapped)
                    if said is not None:
                        await self._keep(said, shadow)
                finally:
                    await shadow.close()
            scratch.remove()
        return Rebuilt(
            group_id=self.group_id,
            episodes=len(seen.plan.wanted),
            changes=swap.swapped.changes,
            changed=swap.changed,
            dead=swap.dead,
            set_aside=dict(self._set_aside),
            left_out=seen.plan.left_out,
            unrecorded=shadow.unrecorded,
            seconds=time.monotonic() - started,
            held=waited,
        )

    async def _look(self) -> _Seen:
        """The live graph first, the log after it: so everything that the graph knows is in what is read of the log."""
        store = self.tools.store
        ledger = await store.ledger(self.group_id)
        live = {k.id: k for k in await store.known_episodes(self.group_id)}
        await self.tools.log.refresh()
        operators = operators_episodes(ledger)
        raw = {e.id: e for e in await store.raw_episodes(self.group_id, sorted(operators))}
        places = await self._places(live)
        source = self.options.source
        keeps = source is From.extracted or any(place.extracted for place in places)
        found = plan(places, live, operators, source, keeps_extractions=keeps)
        if found.missing:
            raise RebuildRefused(
                f"{len(found.missing)} episodes of group {self.group_id!r} are in the graph, but what was extracted "
                f"from them is not kept (such as {found.missing[0]!r}): rebuild with --from raw"
            )
        return _Seen(ledger, live, places, found, acts_of(ledger, raw))

    async def _places(self, live: Mapping[str, KnownEpisode]) -> Sequence[Place]:
        """The log's episodes, and those that only the graph has."""
        places = list(await self.tools.log.places(self.group_id))
        logged = {place.episode_id for place in places}
        places += [
            Place(k.id, k.sequence, k.created_at)
            for k in live.values()
            if k.created_at is not None and k.id not in logged
        ]
        return sorted(places, key=lambda place: (place.sequence, place.episode_id))

    async def _catch_up(self, shadow: Shadow, seen: _Seen, *, held: bool) -> int:
        """Tell the shadow what it does not have; how many episodes and acts that were.

        What the live stages are busy with waits until the group is held: they may finish it first, and then the graph
        knows when.
        """
        known = await shadow.known()
        gone = [
            k.id
            for k in seen.live.values()
            if FORGOTTEN in k.stages and k.id in known and FORGOTTEN not in known[k.id].stages
        ]
        if gone:
            await shadow.forget(gone)
        todo = [
            place
            for place in seen.plan.wanted
            if not _is_told(known.get(place.episode_id))
            and (held or not _is_under_way(seen.live.get(place.episode_id)))
        ]
        acts = await self._acts(shadow, seen)
        times = learned(seen.places, seen.ledger, seen.live.values())
        behind = len(gone) + len(todo) + len(acts)
        done, total = len(seen.plan.wanted) - len(todo), len(seen.plan.wanted)
        self.report(Progress(self.group_id, done, total))
        while todo or acts:
            chunk = [p for p in todo[:CHUNK] if not acts or p.sequence < acts[0].sequence]
            todo = todo[len(chunk) :]
            if chunk:
                await self._tell(shadow, [place.episode_id for place in chunk], times, seen.ledger)
                done += len(chunk)
                self.report(Progress(self.group_id, done, total))
            else:
                await self._redo(shadow, acts.pop(0), seen.ledger)
        return behind

    async def _acts(self, shadow: Shadow, seen: _Seen) -> list[Act]:
        if not seen.acts:
            return []
        ledger = await shadow.ledger()
        return [act for act in seen.acts if act.name not in self._set_aside and not is_done(act, ledger)]

    async def _redo(self, shadow: Shadow, act: Act, original: Ledger) -> None:
        try:
            await shadow.redo(act, original)
        except Poison as poison:
            self._set_aside[act.name] = str(poison)

    async def _tell(
        self, shadow: Shadow, ids: Sequence[str], times: Mapping[str, Learned], live: Ledger
    ) -> None:
        raw = dict(await self.tools.log.episodes(self.group_id, ids))
        if absent := [i for i in ids if i not in raw]:
            stored = await self.tools.store.raw_episodes(self.group_id, absent)
            raw |= {e.id: e for e in stored}
        kept: Mapping[str, Extraction] = {}
        if self.options.source is From.extracted:
            nothing = {i: Extraction() for i in ids}
            kept = {**nothing, **await self.tools.log.extractions(self.group_id, ids)}
        if lost := [i for i in ids if i not in raw]:
            raise Retryable(f"episode {lost[0]!r} is gone from the log and from the graph: run again")
        judged = list(await self.tools.log.judged(self.group_id, ids))
        # What the graph keeps is as new as what the log keeps, or newer.
        judged += [record for (episode, _), record in live.judged.items() if episode in set(ids)]
        await shadow.tell([raw[i] for i in ids], kept, times, Records(judged))

    async def _swap_in(self, shadow: Shadow, token: str) -> tuple[Swap, _Seen]:
        for _ in range(ATTEMPTS):
            seen = await self._look()
            await self._catch_up(shadow, seen, held=True)
            self.report(Progress(self.group_id, len(seen.plan.wanted), len(seen.plan.wanted), "swapping"))
            await shadow.draw_communities(self.tools.clock())
            swap = await swap_of(seen.ledger, seen.live, shadow, self.tools, self.options, token)
            if swap.lost and not self.options.allow_dead:
                name, reason = next(iter(swap.lost.items()))
                raise RebuildRefused(
                    f"{len(swap.lost)} episodes that are in the graph cannot be told again (such as {name!r}: "
                    f"{reason}): mend the cause, or give --allow-dead to go on without them"
                )
            try:
                await self.tools.store.commit_curation(swap.commit)
            except Fenced:
                # The hold ran out while this process stood still.
                continue
            return swap, seen
        raise Retryable(f"group {self.group_id!r} does not come to rest: try again later")

    async def _publish_unsent(self) -> None:
        """What an earlier rebuild, or a curation, could not tell."""
        if self.tools.publish is not None:
            for swapped in unsent(await self.tools.store.ledger(self.group_id)):
                await self._publish(swapped)

    async def _keep(self, said: Said, shadow: Shadow) -> None:
        """What the extractor said now takes the place of what it said once, where that is kept."""
        if self.tools.keep is None:
            return
        answers = dict(said)
        names = sorted(answers)
        for start in range(0, len(names), CHUNK):
            some = names[start : start + CHUNK]
            kept = await self.tools.log.extractions(self.group_id, some)
            events = [
                ExtractedEpisode(episode=episode.ref, extraction=answers[episode.id])
                for episode in await shadow.store.raw_episodes(self.group_id, some)
                if _told(kept.get(episode.id)) != _told(answers[episode.id])
            ]
            if events:
                await self.tools.keep(events)

    async def _publish(self, swapped: Swapped) -> None:
        if self.tools.publish is not None:
            await self.tools.publish(swapped)
        await self.tools.store.notice_sent(self.group_id, swapped.name)


def _is_under_way(known: KnownEpisode | None) -> bool:
    """Whether the live stages have begun with an episode and are not through."""
    return (
        known is not None and known.state not in {*FINAL_STATES, None} and "resolve_facts" not in known.stages
    )


def _is_told(known: KnownEpisode | None) -> bool:
    """Whether the shadow has come to an end with an episode."""
    return known is not None and known.state in FINAL_STATES


def _told(extraction: Extraction | None) -> tuple[object, object]:
    """What an extraction says, without its cost. One that says nothing is as good as none."""
    return (extraction.mentions, extraction.statements) if extraction else ((), ())
