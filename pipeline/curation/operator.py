"""Operator: reads the ledger, lets a pure decision change it, commits the difference and says what changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

import orjson

from pipeline.clock import Clock
from pipeline.curation.correcting import FactCorrection, entity_corrected, fact_corrected, operators_episode
from pipeline.curation.difference import Occurrence, changed_records, difference, texts_to_embed
from pipeline.curation.forgetting import episodes_about, forgotten
from pipeline.curation.merging import merged, undone, with_facts_moved
from pipeline.curation.telling import changes_between, retold, wordless
from pipeline.embedding.port import Embedder
from pipeline.errors import Fenced, Poison, Retryable
from pipeline.graph.ledger import NOTICE, CurationStore, Ledger
from pipeline.model.changes import Change, FactChange
from pipeline.model.episode import Episode
from pipeline.model.judgement import JudgedEpisode
from pipeline.model.provenance import Correction, Merge
from pipeline.stages.extract import MAX_EMBEDDED_CHARACTERS
from pipeline.stages.resolve_facts import changes_as_output
from pipeline.timeline.reconcile import Occasion, event_of

ATTEMPTS = 20


@dataclass(frozen=True)
class Curated:
    """What a curation did.

    `name` is the id of its notice, to be dropped with `sent` once `changes` are published. `forgotten` are the
    episodes that are gone, `episode` the operator's own, `merge` the record of a merge, `judged` records of judges that
    are otherwise now (None: gone), by (episode id, stage).
    """

    group_id: str
    name: str
    changes: tuple[FactChange, ...]
    forgotten: tuple[str, ...] = ()
    episode: str | None = None
    merge: Merge | None = None
    judged: Mapping[tuple[str, str], JudgedEpisode | None] = field(default_factory=dict)


@dataclass(frozen=True)
class _Decision:
    """What a decision answers: the ledger, on whose account it changes, and what comes with it."""

    after: Ledger
    name: str
    added: tuple[Episode, ...] = ()
    forgotten: tuple[str, ...] = ()
    merge: Merge | None = None


@dataclass(frozen=True)
class Operator:
    """Taking back and correcting by hand in one group at a time.

    Every method commits in one transaction, and begins again when a stage has committed meanwhile. Poison says what
    cannot be done; Retryable that the database is away, that the group does not come to rest, or that an episode on
    its way between two stages speaks of an entity that would vanish.
    """

    store: CurationStore
    embedder: Embedder
    clock: Clock

    async def forget_episodes(self, group_id: str, episodes: Sequence[str]) -> Curated:
        """Take episodes back. Ids that are not known are Poison."""

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            if unknown := sorted(set(episodes) - ledger.episodes):
                raise Poison(f"group {group_id!r} has no episode {', '.join(unknown)}", "episode")
            return _Decision(
                forgotten(ledger, episodes), min(episodes), forgotten=tuple(sorted(set(episodes)))
            )

        return await self._curate(group_id, decide)

    async def forget_entity(self, group_id: str, name_or_id: str) -> Curated:
        """Take back every episode that tells of an entity (by id, or by any of its names, whatever the type)."""

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            _, episodes = episodes_about(ledger, name_or_id)
            if not episodes:
                raise Poison(
                    f"group {group_id!r} has no entity {name_or_id!r} that an episode tells of", "entity"
                )
            return _Decision(forgotten(ledger, episodes), min(episodes), forgotten=tuple(sorted(episodes)))

        return await self._curate(group_id, decide)

    async def forget_group(self, group_id: str) -> Curated:
        """Remove everything of a group. Its episodes stay forgotten; new ones are taken in as ever."""
        for _ in range(ATTEMPTS):
            ledger, now = await self.store.ledger(group_id), self.clock()
            if not ledger.episodes and not ledger.entities:
                raise Poison(f"group {group_id!r} is empty", "group")
            name = min(ledger.episodes, default=group_id)
            occasion = Occasion(group_id, name, now)
            changes = tuple(
                event_of(Change.retracted, wordless(fact, {}, now), occasion)
                for _, fact in sorted(ledger.facts.items())
                if fact.beliefs[-1].holds
            )
            try:
                notice = _notice(changes, ledger.episodes)
                await self.store.erase_group(group_id, ledger.lanes, (name, notice))
            except Fenced:
                continue
            return Curated(group_id, name, changes, tuple(sorted(ledger.episodes)))
        raise Retryable(f"group {group_id!r} does not come to rest: try again later")

    async def merge(self, group_id: str, apart: str, into: str, reason: str = "") -> Curated:
        """Make one entity of two: `into` keeps its id and name."""

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            after, record = merged(ledger, apart, into, reason, now)
            moved = with_facts_moved(ledger, after, Occasion(group_id, record.id, now))
            return _Decision(moved, record.id, merge=record)

        return await self._curate(group_id, decide)

    async def undo_merge(self, group_id: str, merge_id: str) -> Curated:
        """Part two entities that a judge or an operator had joined."""

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            after = undone(ledger, merge_id, now)
            moved = with_facts_moved(ledger, after, Occasion(group_id, merge_id, now))
            return _Decision(moved, merge_id, merge=after.merges[merge_id])

        return await self._curate(group_id, decide)

    async def correct_entity(self, group_id: str, entity_id: str, correction: Correction) -> Curated:
        """Set name, type or attributes of an entity right."""
        content = {"entity": entity_id, **correction.model_dump(mode="json", exclude_defaults=True)}

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            episode = operators_episode(group_id, content, now)
            return _Decision(
                entity_corrected(ledger, entity_id, correction, episode), episode.id, added=(episode,)
            )

        return await self._curate(group_id, decide)

    async def correct_fact(self, group_id: str, fact_id: str, correction: FactCorrection) -> Curated:
        """Set right when a fact holds, or take it back."""
        content: dict[str, Any] = (
            {"fact": fact_id, "retract": True} if correction.retract else {"fact": fact_id}
        )
        for name, side in (("valid_at", correction.starts), ("invalid_at", correction.ends)):
            if side is not None:
                content[name] = None if side[0] is None else side[0].isoformat()

        def decide(ledger: Ledger, now: datetime) -> _Decision:
            episode = operators_episode(group_id, content, now)
            return _Decision(
                fact_corrected(ledger, fact_id, correction, episode), episode.id, added=(episode,)
            )

        return await self._curate(group_id, decide)

    async def unsent(self, group_id: str) -> list[Curated]:
        """Curations of the group whose changes nobody has confirmed to be published."""
        ledger = await self.store.ledger(group_id)
        return [
            _read_notice(ledger, name, text)
            for (name, stage), text in sorted(ledger.outputs.items())
            if stage == NOTICE
        ]

    async def sent(self, curated: Curated) -> None:
        """The changes are published: they need not be kept any longer."""
        await self.store.notice_sent(curated.group_id, curated.name)

    async def _curate(self, group_id: str, decide: Callable[[Ledger, datetime], _Decision]) -> Curated:
        for _ in range(ATTEMPTS):
            ledger, now = await self.store.ledger(group_id), self.clock()
            decision = decide(ledger, now)
            after = retold(ledger, decision.after, now)
            _let_pass(ledger, after)
            changes = tuple(changes_between(ledger, after, Occasion(group_id, decision.name, now)))
            judged = changed_records(ledger, after)
            occurrence = Occurrence(
                at=now,
                added=decision.added,
                forgotten=decision.forgotten,
                notice=(decision.name, _notice(changes, decision.forgotten, judged)),
            )
            texts = texts_to_embed(ledger, after, occurrence)
            shortened = [text[:MAX_EMBEDDED_CHARACTERS] for text in texts]
            found = await self.embedder.embed(shortened) if texts else []
            vectors = dict(zip(texts, found, strict=True))
            try:
                await self.store.commit_curation(difference(ledger, after, vectors, occurrence))
            except Fenced:
                continue
            own = decision.added[0].id if decision.added else None
            return Curated(group_id, decision.name, changes, decision.forgotten, own, decision.merge, judged)
        raise Retryable(f"group {group_id!r} does not come to rest: try again later")


def _notice(
    changes: Iterable[FactChange], forgotten: Iterable[str], judged: Iterable[tuple[str, str]] = ()
) -> str:
    """What is to be published, in the form in which stages keep their changes; of records of judges their places."""
    told = orjson.loads(changes_as_output(changes, ()))
    return orjson.dumps({**told, "forgotten": sorted(forgotten), "judged": sorted(judged)}).decode()


def _read_notice(ledger: Ledger, name: str, text: str) -> Curated:
    told = orjson.loads(text)
    changes = tuple(FactChange.model_validate(change) for change in told["changes"])
    judged = {
        (episode, stage): ledger.judged.get((episode, stage)) for episode, stage in told.get("judged", ())
    }
    return Curated(ledger.group_id, name, changes, tuple(told["forgotten"]), judged=judged)


def _let_pass(before: Ledger, after: Ledger) -> None:
    """Retryable while an episode that will still bring its facts speaks of an entity that would not be there."""
    vanished = before.entities.keys() - after.entities.keys()
    waiting = {
        episode
        for episode, entity in before.contributions
        if entity in vanished and episode in before.unfinished and episode in after.episodes
    }
    if waiting:
        raise Retryable(
            f"episode {min(waiting)!r} is between two stages: try again when it is committed, or forget it too"
        )
