"""Migrating: brings a graph from an older format to the one that this program writes.

One process does it, under a lease that runs out by itself when the process dies; how far it is stands in the graph,
written with each batch, so that the next one goes on there. From the first moment the graph says which version it is
on the way to, and programs that do not know that version write nothing any more.
"""

from __future__ import annotations

import logging
import os
import socket
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

from pipeline.errors import Retryable
from pipeline.graph.neo4j.connection import Neo4jConnection, Row, Transaction
from pipeline.graph.neo4j.migrations.step import Part, Step

LEASE_SECONDS = 30
BATCH = 500

# The first write locks the node: of two processes one is told of the other.
TAKE = """CYPHER 25
MERGE (m:FactstreamSchema {name: $note})
SET m.taken = coalesce(m.taken, 0) + 1
WITH m, m.until > timestamp() AND m.token <> $token AS busy
CALL (m, busy) {
    WITH m WHERE busy IS NULL OR NOT busy
    SET m.token = $token, m.holder = $holder, m.until = timestamp() + $millis
}
RETURN coalesce(busy, false) AS busy, m.holder AS holder, m.to AS to, m.part AS part, m.group AS group, m.after AS after
"""
BEGIN = """CYPHER 25
MATCH (s:FactstreamSchema {name: $graph})
SET s.migrating = $version
WITH s
MATCH (m:FactstreamSchema {name: $note})
SET m.to = $version, m.part = null, m.group = null, m.after = null
"""
NOTE = """CYPHER 25
MATCH (m:FactstreamSchema {name: $note})
SET m.taken = coalesce(m.taken, 0) + 1
WITH m WHERE m.token = $token
SET m.until = timestamp() + $millis, m.part = $part, m.group = $group, m.after = $after
RETURN count(m) AS mine
"""
END = """CYPHER 25
MATCH (m:FactstreamSchema {name: $note, token: $token})
REMOVE m.to, m.part, m.group, m.after, m.until, m.token
WITH m
MATCH (s:FactstreamSchema {name: $graph})
SET s.version = $version
REMOVE s.migrating
"""

log = logging.getLogger(__name__)


@dataclass
class Migrating:
    """One run over the steps that a graph still has before it.

    `batch` things are changed in one transaction; `graph` and `note` name the nodes that say the version and how far
    it is; `within` limits it to some groups (none: all). Raises Retryable while another process does it, and when the
    lease was lost: open the store again.
    """

    connection: Neo4jConnection
    steps: Sequence[Step]
    batch: int = BATCH
    graph: str = "graph"
    note: str = "migration"
    within: Sequence[str] = ()
    _token: str = field(default_factory=lambda: uuid.uuid4().hex)

    async def run(self, version: int) -> int:
        """From a version to the last step's; the version that the graph has then."""
        for step in self.steps:
            if step.version > version:
                await self._step(step)
                version = step.version
        return version

    async def _step(self, step: Step) -> None:
        found = await self._take()
        if found["to"] != step.version:
            await self.connection.write("migrate", BEGIN, {**self._names, "version": step.version})
            found = {**found, "part": None, "group": None, "after": None}
        log.warning("the graph is brought to version %d: %s", step.version, step.meaning)
        names = [part.name for part in step.parts]
        first = names.index(found["part"]) if found["part"] in names else 0
        for part in step.parts[first:]:
            resumed = part.name == found["part"]
            await self._part(part, (found["group"], found["after"]) if resumed else ("", ""))
        await self.connection.write("migrate", END, {**self._names, "version": step.version})
        log.warning("the graph has version %d", step.version)

    @property
    def _names(self) -> dict[str, str]:
        return {"graph": self.graph, "note": self.note, "token": self._token}

    async def _part(self, part: Part, behind: tuple[str, str]) -> None:
        rows: Sequence[Row] = ()
        while not rows or len(rows) == self.batch:
            params = {
                "group": behind[0],
                "after": behind[1],
                "limit": self.batch,
                "within": list(self.within),
            }
            rows = await self.connection.run("migrate", part.read, params)
            if not rows:
                return
            behind = rows[-1]["group"], rows[-1]["id"]
            async with self.connection.transaction("migrate") as transaction:
                await transaction.run(part.write, {"rows": part.change(rows)})
                await self._note(transaction, part, behind)

    async def _note(self, transaction: Transaction, part: Part, behind: tuple[str, str]) -> None:
        """How far it is, in the transaction of the batch; Retryable when another has taken over."""
        params = {
            **self._names,
            "millis": LEASE_SECONDS * 1000,
            "part": part.name,
            "group": behind[0],
            "after": behind[1],
        }
        if not (await transaction.run(NOTE, params))[0]["mine"]:
            raise Retryable("another process has taken over the migration of the graph")

    async def _take(self) -> Row:
        params = {
            **self._names,
            "holder": f"process {os.getpid()} on {socket.gethostname()}",
            "millis": LEASE_SECONDS * 1000,
        }
        found = (await self.connection.write("migrate", TAKE, params))[0]
        if found["busy"]:
            raise Retryable(f"the graph is being brought to a newer version by {found['holder']}")
        return found
