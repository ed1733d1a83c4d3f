"""A database that answers with errors: put into the driver, below everything of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import neo4j
from neo4j.exceptions import Neo4jError


@dataclass
class Suffering:
    """Errors in turn, at every `every`-th call of `place`, each noted as a line of the file `noted`.

    `place` is "statement", "commit" (the transaction is not committed) or "committed" (it is, and nobody is told).
    """

    codes: list[str]
    place: str
    every: int
    noted: Path
    _calls: int = field(default=0, init=False)

    def error(self, place: str) -> Neo4jError | None:
        """The error of this call, if it is its turn."""
        if place != self.place:
            return None
        self._calls += 1
        if self._calls % self.every:
            return None
        code = self.codes[self._calls // self.every % len(self.codes)]
        with self.noted.open("a") as noted:
            noted.write(f"{code}\n")
        return Neo4jError._hydrate_neo4j(code=code, message="made by a fault run")


def suffer(suffering: Suffering) -> None:
    """From now on, in this process."""
    session_run, run, commit = (
        neo4j.AsyncSession.run,
        neo4j.AsyncTransaction.run,
        neo4j.AsyncTransaction.commit,
    )

    async def failing_session_run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (error := suffering.error("statement")) is not None:
            raise error
        return await session_run(self, *args, **kwargs)

    async def failing_run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (error := suffering.error("statement")) is not None:
            raise error
        return await run(self, *args, **kwargs)

    async def failing_commit(self: Any) -> None:
        if (error := suffering.error("commit")) is not None:
            await self.rollback()
            raise error
        await commit(self)
        if (error := suffering.error("committed")) is not None:
            raise error

    neo4j.AsyncSession.run = failing_session_run  # type: ignore[method-assign]
    neo4j.AsyncTransaction.run = failing_run  # type: ignore[method-assign]
    neo4j.AsyncTransaction.commit = failing_commit  # type: ignore[method-assign]
