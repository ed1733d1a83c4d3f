"""A wire to Neo4j on which everything takes its time, and which can be cut."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.integration.graph.broken_wire import Wire


class SlowWire(Wire):
    """Each piece of data waits `delay` seconds before it is passed on."""

    delay = 0.0

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(65536):
            if self.delay:
                await asyncio.sleep(self.delay)
            writer.write(data)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def slow_wire_to(uri: str) -> AsyncIterator[SlowWire]:
    """A wire on a free local port; `bolt://127.0.0.1:<port>` leads through it."""
    wire = SlowWire(uri)
    server = await asyncio.start_server(wire.serve, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        wire.cut()
        server.close()
