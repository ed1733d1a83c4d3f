"""Opening the store at the start, for as long as it takes: the service is up meanwhile and says that it is not ready."""

from __future__ import annotations

import asyncio
import logging

from pipeline.errors import Retryable
from pipeline.graph.search import GraphReader

_log = logging.getLogger(__name__)


class Opening:
    """Opens a reader. A store that is down is tried again; any other error ends the start."""

    def __init__(self, reader: GraphReader, first_pause: float = 0.5, longest_pause: float = 15.0) -> None:
        self._reader = reader
        self._pause = first_pause
        self._longest = longest_pause
        self._trouble: str | None = None
        self._task: asyncio.Task[None] | None = None

    def check(self) -> None:
        """Raises Retryable with the reason while the store is not open."""
        if self._trouble is not None:
            raise Retryable(self._trouble)

    async def start(self) -> None:
        """Try once; when the store is down, go on trying in the background."""
        if not await self._try():
            self._task = asyncio.create_task(self._keep_trying())

    async def stop(self) -> None:
        """Stop trying and let go of the store."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        await self._reader.close()

    async def _try(self) -> bool:
        try:
            await self._reader.open()
        except Retryable as error:
            self._trouble = f"the store is not open yet: {error}"
            _log.warning("%s", self._trouble)
            return False
        self._trouble = None
        return True

    async def _keep_trying(self) -> None:
        try:
            while True:
                await asyncio.sleep(self._pause)
                self._pause = min(self._longest, 2 * self._pause)
                if await self._try():
                    return
        except Exception as error:
            self._trouble = f"the store cannot be opened: {error}"
            _log.exception("the store cannot be opened")
