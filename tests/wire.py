"""A wire to a server on which everything can take its time, and which a test can cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit


class Wire:
    """Passes bytes between clients and one server until it is cut; each piece waits `delay` seconds before that."""

    delay = 0.0

    def __init__(self, uri: str) -> None:
        self._host, self._port = urlsplit(uri).hostname or "", urlsplit(uri).port or 7687
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    def cut(self) -> None:
        """End all connections at once; new ones are let through."""
        for writer in self._writers:
            writer.transport.abort()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One client."""
        there_reader, there_writer = await asyncio.open_connection(self._host, self._port)
        both = {writer, there_writer}
        self._writers |= both
        try:
            await asyncio.gather(self._pass(reader, there_writer), self._pass(there_reader, writer))
        except OSError:
            pass
        finally:
            self._writers -= both

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self.delay:
                await asyncio.sleep(self.delay)
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def wire_to(uri: str) -> AsyncIterator[Wire]:
    """A wire on a free local port; `bolt://127.0.0.1:<port>` leads through it."""
    wire = Wire(uri)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        wire.cut()
        server.close()
