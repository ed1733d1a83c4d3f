"""A TCP proxy that counts what a client and a server say to each other."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit


class CountingProxy:
    """Listens on a free port and passes everything on to the server of `uri`.

    A round trip is counted when the client says something after the server has answered.
    """

    def __init__(self, uri: str) -> None:
        parts = urlsplit(uri)
        self._scheme = parts.scheme
        self._host, self._port = parts.hostname or "127.0.0.1", parts.port or 7687
        self._server: asyncio.Server | None = None
        self._answered = True
        self._passing: set[asyncio.Task[None]] = set()
        self.round_trips = 0
        self.bytes_down = 0

    async def __aenter__(self) -> CountingProxy:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._server is not None:
            self._server.close()
        for task in self._passing:
            task.cancel()
        await asyncio.gather(*self._passing, return_exceptions=True)

    @property
    def uri(self) -> str:
        """Where to connect instead of to the server."""
        if self._server is None:
            raise RuntimeError("the proxy is not running")
        return f"{self._scheme}://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def reset(self) -> None:
        """Count from here."""
        self.round_trips = self.bytes_down = 0

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        down, up = await asyncio.open_connection(self._host, self._port)
        for source, target, upwards in ((reader, up, True), (down, writer, False)):
            task = asyncio.create_task(self._pass(source, target, upwards))
            self._passing.add(task)
            task.add_done_callback(self._passing.discard)

    async def _pass(self, source: asyncio.StreamReader, target: asyncio.StreamWriter, upwards: bool) -> None:
        try:
            while data := await source.read(1 << 16):
                if upwards:
                    self.round_trips += self._answered
                    self._answered = False
                else:
                    self._answered = True
                    self.bytes_down += len(data)
                target.write(data)
                await target.drain()
        except ConnectionError:
            return
        finally:
            target.close()
