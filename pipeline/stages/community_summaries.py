"""Summaries of communities by a model, some time after they have settled; never on the way of an episode."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from pipeline.clock import Clock
from pipeline.cost.metering import Meter
from pipeline.embedding.port import Embedder
from pipeline.errors import FactstreamError, Fenced, Parked
from pipeline.graph.community_port import CommunityTexts, CommunityView, CommunityWrite
from pipeline.graph.port import GraphStore
from pipeline.model.entity import Entity
from pipeline.model.episode import Usage
from pipeline.observer import Observer
from pipeline.stages.community_text import says_all
from pipeline.stages.telling import CommunityTeller, SpendingGate

log = logging.getLogger(__name__)

LONGEST = 10
"""A community that never rests is told anyway after so many intervals."""
TRIES = 5
MEMBERS = 400
"""Members of one community that are looked at, those with most facts first."""
AT_ONCE = 20
"""Communities that are read and written together."""


@dataclass
class _Waiting:
    since: datetime
    last: datetime
    ids: set[str] = field(default_factory=set)


class CommunitySummaries:
    """Knows which communities have changed, and has them told once nothing has happened to their group for a while.

    What waits stands in memory only: until it is told, a community has the text made by rule, and so it has when this
    process ends first, when the model is away or answers nothing that stands, and when the budget is used up. The next
    change, or a rebuild, brings it back here. Nothing in here raises into the stage.

    Args:
        settle: seconds without a change before a group's communities are told.
        gate: holds back groups that have used up their budget.
    """

    def __init__(
        self,
        store: GraphStore,
        teller: CommunityTeller,
        embedder: Embedder,
        clock: Clock,
        observer: Observer,
        *,
        settle: float,
        gate: SpendingGate | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._store = store
        self._teller = teller
        self._embedder = embedder
        self._clock = clock
        self._observer = observer
        self._settle = timedelta(seconds=settle)
        self._gate = gate
        self._sleep = sleep
        self._waiting: dict[str, _Waiting] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        # What was spent on texts that came too late to be written; counted with the next.
        self._unwritten: dict[str, Usage] = {}

    def changed(self, group_id: str, communities: Iterable[str]) -> None:
        """Some communities have other members or members with other facts."""
        ids = set(communities)
        if not ids:
            return
        now = self._clock()
        waiting = self._waiting.setdefault(group_id, _Waiting(now, now))
        waiting.last = now
        waiting.ids |= ids
        if group_id not in self._tasks:
            self._tasks[group_id] = asyncio.get_running_loop().create_task(self._later(group_id))

    def at_once(self) -> CommunitySummaries:
        """The same, without waiting for a group to be quiet."""
        self._settle = timedelta()
        return self

    async def stop(self) -> None:
        """Forget what waits, and end."""
        self._waiting.clear()
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def settled(self) -> None:
        """Wait until nothing waits any more."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def tell(self, group_id: str, communities: Sequence[str]) -> int:
        """Have communities told now; how many got a summary. Raises Parked, Retryable and Fenced as the parts do; what was
        told before that is written."""
        written = 0
        for start in range(0, len(communities), AT_ONCE):
            written += await self._tell(group_id, communities[start : start + AT_ONCE])
        return written

    async def _later(self, group_id: str) -> None:
        try:
            while (waiting := self._waiting.get(group_id)) is not None:
                now = self._clock()
                due = min(waiting.last + self._settle, waiting.since + LONGEST * self._settle)
                if now < due:
                    await self._sleep((due - now).total_seconds())
                    continue
                del self._waiting[group_id]
                await self._quietly(group_id, sorted(waiting.ids))
        finally:
            # In one step with the last look at what waits, so that nothing falls between the two.
            self._tasks.pop(group_id, None)

    async def _quietly(self, group_id: str, ids: Sequence[str]) -> None:
        left = list(ids)
        for _ in range(TRIES):
            try:
                while left:
                    await self._tell(group_id, left[:AT_ONCE])
                    del left[:AT_ONCE]
            except Fenced:
                # An episode was committed meanwhile: the members may be others now.
                continue
            except Parked as error:
                log.info("communities of group %r keep the texts made by rule: %s", group_id, error)
            except FactstreamError as error:
                self._observer.event("summary_failed")
                log.warning("communities of group %r keep the texts made by rule: %s", group_id, error)
            except Exception:
                self._observer.event("summary_failed")
                log.exception("communities of group %r keep the texts made by rule", group_id)
            return
        self._observer.event("summary_failed")

    async def _tell(self, group_id: str, ids: Sequence[str]) -> int:
        view = await self._store.communities(group_id, ids, MEMBERS)
        told: dict[str, str] = {}
        meter, usage = Meter.begin(), self._unwritten.pop(group_id, Usage())
        trouble: FactstreamError | None = None
        for community_id, members in view.members.items():
            # A text that says all that is known cannot be made better by leaving something out.
            if says_all(members):
                continue
            try:
                if self._gate is not None:
                    await self._gate.check(group_id)
                text, spent = await self._teller.tell(_with_facts(members))
            except FactstreamError as error:
                # What was paid for until here is kept.
                trouble = error
                break
            usage += spent
            if self._gate is not None:
                self._gate.note(group_id, spent)
            if text:
                told[community_id] = text
        written = await self._write(group_id, view, told, usage, meter)
        if trouble is not None:
            raise trouble
        return written

    async def _write(
        self, group_id: str, view: CommunityView, told: dict[str, str], usage: Usage, meter: Meter
    ) -> int:
        if not told and usage == Usage():
            return 0
        made = [view.communities[i].model_copy(update={"summary": text}) for i, text in told.items()]
        vectors = await self._embedder.embed([f"{c.name}: {c.summary}" for c in made]) if made else []
        usage += Usage(embeddings=len(made)) + meter.usage
        texts = CommunityTexts(
            group_id=group_id,
            lane_version=view.lane_version,
            communities=tuple(CommunityWrite(c, v) for c, v in zip(made, vectors, strict=True)),
            usage=usage,
            at=self._clock(),
        )
        try:
            await self._store.describe_communities(texts)
        except Fenced:
            self._unwritten[group_id] = self._unwritten.get(group_id, Usage()) + usage
            raise
        self._observer.spent(group_id, usage)
        if made:
            self._observer.event("communities_summarized", len(made))
        return len(made)


def _with_facts(members: Sequence[Entity]) -> list[Entity]:
    """The members of which anything is known."""
    return [member for member in members if member.summary] or list(members)
