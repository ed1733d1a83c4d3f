"""Fencing: every commit begins by locking its lane and ends by writing its mark."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from pipeline.cost.day_total import DayTotal
from pipeline.errors import Fenced, Retryable
from pipeline.graph.mark import Mark
from pipeline.graph.neo4j import queries_lane as q
from pipeline.graph.neo4j.connection import Neo4jConnection, Row, Transaction
from pipeline.graph.neo4j.schema import check_version
from pipeline.model.episode import EpisodeState, Usage

EXTRACT = "extract"
RESOLVE_ENTITIES = "resolve_entities"
RESOLVE_FACTS = "resolve_facts"
UPDATE_COMMUNITIES = "update_communities"

_PREVIOUS = {RESOLVE_ENTITIES: EXTRACT, RESOLVE_FACTS: RESOLVE_ENTITIES, UPDATE_COMMUNITIES: RESOLVE_FACTS}
# No lane has this name: it locks the group as a whole.
WHOLE = ""
# A rebuild concerns no episode. No episode has an empty id.
NO_EPISODE = ""


@dataclass(frozen=True)
class Lane:
    """Which stage commits which episode of which group."""

    group_id: str
    stage: str
    episode_id: str = NO_EPISODE

    @property
    def params(self) -> dict[str, Any]:
        """The parameters that all statements of the lane share."""
        return {"group_id": self.group_id, "stage": self.stage, "episode_id": self.episode_id}


@dataclass
class Commit:
    """An open commit that holds its lane. `mark` is the one that was there before."""

    lane: Lane
    transaction: Transaction
    mark: Mark | None
    version: int
    _usage: Usage
    _total: DayTotal = field(default_factory=DayTotal)

    async def run(self, query: str, **params: Any) -> list[Row]:
        """One statement of the commit."""
        return await self.transaction.run(query, {**self.lane.params, **params})

    async def finish(
        self,
        state: EpisodeState | None,
        output: str | None,
        usage: Usage,
        at: datetime | None,
        judged: str | None = None,
    ) -> None:
        """Write the mark with what a judge decided, drop the output of the stage before, add up the usage, set the state (None: keep it)."""
        await self.run(
            q.FINISH,
            output=output,
            judged=judged,
            previous=_PREVIOUS.get(self.lane.stage),
            state=state.value if state else None,
            usage=(self._usage + usage).model_dump_json(),
            spent=self._total.plus(usage, at).model_dump_json(),
        )

    async def spend(self, usage: Usage, at: datetime) -> None:
        """Add a cost that is no episode's to the group's day."""
        await self.run(q.ADD_SPENDING, spent=self._total.plus(usage, at).model_dump_json())


@asynccontextmanager
async def begin(connection: Neo4jConnection, lane: Lane, expected: int | None) -> AsyncIterator[Commit]:
    """Lock the lane and raise its version.

    Raises Fenced unless its version is the `expected` one and the episode bears no mark of the stage. With
    `expected` None neither is asked: the caller looks at the mark itself.
    """
    async with connection.transaction(f"commit_{lane.stage}") as transaction:
        row = (await transaction.run(q.BEGIN, lane.params))[0]
        check_version(row["format"])
        if expected is not None and row["held"]:
            raise Retryable(f"group {lane.group_id!r} is held while a rebuild of it is swapped in")
        if expected is not None and (row["version"] != expected or row["marked"]):
            raise Fenced(
                f"{lane.stage} of group {lane.group_id!r} is at version {row['version']}, {expected} was read"
            )
        usage = Usage.model_validate_json(row["usage"]) if row["usage"] else Usage()
        yield Commit(lane, transaction, mark_of(row), row["version"], usage, DayTotal.read(row["spent"]))


def mark_of(row: Row) -> Mark | None:
    """The mark that a view or a commit found."""
    if not row["marked"]:
        return None
    return Mark(row["output"], judged=row["judged"], forgotten=bool(row["forgotten"]))
