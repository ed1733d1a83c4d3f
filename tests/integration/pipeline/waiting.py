"""Waiting for a condition, within a bound."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

WITHIN = 150.0
"""Seconds after which a wait has failed; a busy machine needs a good part of them."""


async def until(condition: Callable[[], Awaitable[bool]], seconds: float = WITHIN) -> None:
    """Returns when the condition holds."""
    try:
        async with asyncio.timeout(seconds):
            while not await condition():
                await asyncio.sleep(0.2)
    except TimeoutError:
        raise AssertionError(f"{condition.__qualname__} is not so within {seconds} s") from None
