"""Leasing: keeps the lease of a group while a rebuild runs, and the group at rest while it swaps."""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from types import TracebackType
from typing import Self

from factstream.rebuild.parts import RebuildRefused
from pipeline.errors import Retryable
from pipeline.graph.ledger import Lease, RebuildStore

SECONDS = 30.0
"""How long a lease outlives its holder; it is renewed three times in that."""

log = logging.getLogger(__name__)


class Leasing:
    """The lease of one group, for the length of an `async with`.

    Entering raises RebuildRefused when another rebuild has the lease.
    """

    def __init__(self, store: RebuildStore, group_id: str, token: str, seconds: float = SECONDS) -> None:
        self._store = store
        self._group_id = group_id
        self._lease = Lease(token, f"process {os.getpid()} on {socket.gethostname()}")
        self._seconds = seconds
        self._holds = False
        self._renewing: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        await self._take()
        self._renewing = asyncio.create_task(self._renew())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.gather(self._renewing, return_exceptions=True)
        try:
            await self._store.end_lease(self._group_id, self._lease.token)
        except Retryable as away:
            log.warning("the lease of group %r runs out by itself: %s", self._group_id, away)

    async def hold(self) -> None:
        """From now on commits of the group wait."""
        self._holds = True
        await self._take()

    async def let_go(self) -> None:
        """Commits go on; the lease stays."""
        self._holds = False
        await self._take()

    async def _take(self) -> None:
        other = await self._store.lease(self._group_id, self._lease, self._seconds, holds=self._holds)
        if other is not None:
            raise RebuildRefused(
                f"group {self._group_id!r} is being rebuilt by {other.holder}: wait for it; if that process is dead, "
                f"its lease runs out {self._seconds:.0f} s after its end"
            )

    async def _renew(self) -> None:
        while True:
            await asyncio.sleep(self._seconds / 3)
            try:
                await self._take()
            except (Retryable, RebuildRefused) as error:
                # Nothing can go wrong by it: the swap is fenced by the versions of the lanes.
                log.warning("the lease of group %r was not renewed: %s", self._group_id, error)
