"""Closing what talks to Kafka: a client waits without a bound for a broker that is away."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any

CLOSE_WITHIN = 10.0
"""Seconds. Closing tidily is a courtesy: nothing that was acknowledged depends on it."""

log = logging.getLogger(__name__)


async def closed(closing: Awaitable[Any], what: str, seconds: float = CLOSE_WITHIN) -> None:
    """Waits for `closing`, but no longer than `seconds`; what it raises and what it does not finish is logged."""
    task = asyncio.ensure_future(closing)
    try:
        _, late = await asyncio.wait({task}, timeout=seconds)
    except asyncio.CancelledError:
        task.cancel()
        raise
    if late:
        # Not waited for: it may not listen.
        task.cancel()
        log.warning("%s took longer than %g s; going on without it", what, seconds)
    elif not task.cancelled() and (error := task.exception()) is not None:
        log.warning("%s failed: %r", what, error)
