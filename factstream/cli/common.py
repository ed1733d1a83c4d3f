"""What the commands share: settings, logging, errors as one clear line, signals."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import typer

from factstream.cli.stop_limit import StopLimit
from factstream.settings import Settings, load_settings
from factstream.stack.errors import StackError
from pipeline.errors import FactstreamError
from streams.errors import StartError

T = TypeVar("T")

FAILED = 1
WRONG_SETTING = 2


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turns the errors that factstream raises on purpose into one red line and an exit code."""
    try:
        yield
    except (FactstreamError, StartError, StackError) as error:
        typer.secho(f"factstream: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(FAILED) from error


def settings_or_exit(**overrides: Any) -> Settings:
    """The settings, with what the command line says on top. A wrong one ends the command with code 2."""
    try:
        settings = load_settings({k: v for k, v in overrides.items() if v is not None})
    except FactstreamError as error:
        typer.secho(f"factstream: {error}", err=True, fg=typer.colors.RED)
        raise typer.Exit(WRONG_SETTING) from error
    logging.basicConfig(
        level=settings.log_level.upper(), format="%(asctime)s %(levelname)s %(name)s: %(message)s", force=True
    )
    # These two tell each request and each rebalance at info level, which hides what matters.
    for noisy in ("httpx", "aiokafka", "faust", "mode", "mcp", "neo4j.notifications"):
        logging.getLogger(noisy).setLevel(logging.WARNING if settings.log_level != "debug" else logging.DEBUG)
    return settings


def run(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end, with errors as clear lines."""
    with clear_errors():
        return asyncio.run(main())


async def until_stopped(
    serve: Callable[[asyncio.Event], Awaitable[None]], limit: StopLimit | None = None
) -> None:
    """Runs `serve(stop)`, with `stop` set by SIGTERM or Ctrl-C, from when on the process has until `limit` to end."""
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()

    def told_to_stop() -> None:
        if limit is not None:
            limit.begin()
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, told_to_stop)
    await serve(stop)
