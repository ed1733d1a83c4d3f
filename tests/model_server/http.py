"""A small HTTP/1.1 server whose handler may also hang, drop the connection or send half of an answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field


@dataclass(frozen=True)
class HttpRequest:
    """A request that was read completely."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass(frozen=True)
class HttpAnswer:
    """An answer; with `send` less than 1 only that part of the body is sent, then the connection is closed."""

    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)
    send: float = 1.0


Handler = Callable[[HttpRequest], Awaitable[HttpAnswer | None]]


class HttpServer:
    """Serves on loopback. A handler that answers None has its connection closed."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._server: asyncio.Server | None = None
        self._open: set[asyncio.Task[None]] = set()

    async def start(self, port: int = 0) -> int:
        """Listen; answers the port."""
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    async def stop(self) -> None:
        """Stop listening and close every connection."""
        if self._server is not None:
            self._server.close()
            for task in list(self._open):
                task.cancel()
            await asyncio.gather(*self._open, return_exceptions=True)
            await self._server.wait_closed()

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._open.add(task)
            task.add_done_callback(self._open.discard)
        # A client that goes away ends its own connection only.
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (request := await _read(reader)) is not None:
                answer = await self._handler(request)
                if answer is None:
                    break
                writer.write(_encoded(answer))
                await writer.drain()
                if answer.send < 1:
                    break
        writer.close()


async def _read(reader: asyncio.StreamReader) -> HttpRequest | None:
    head = await reader.readuntil(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").strip().split("\r\n")
    method, path, _ = first.split(" ", 2)
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)
    }
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return HttpRequest(method, path, headers, body)


def _encoded(answer: HttpAnswer) -> bytes:
    headers = {"content-type": "application/json", **answer.headers, "content-length": str(len(answer.body))}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    head = f"HTTP/1.1 {answer.status} X\r\n{lines}\r\n".encode("latin-1")
    return head + answer.body[: int(len(answer.body) * answer.send)]
