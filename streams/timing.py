"""Time and chance as one argument, so that tests decide both."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from pipeline.clock import Clock, system_clock


@dataclass(frozen=True, slots=True)
class Timing:
    """`sleep` takes seconds, `chance` answers in [0, 1), `monotonic` seconds that never go back, `clock` UTC.

    `within` is a block that raises TimeoutError once it has taken that many seconds.
    """

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    chance: Callable[[], float] = random.random
    monotonic: Callable[[], float] = time.monotonic
    clock: Clock = system_clock
    within: Callable[[float], AbstractAsyncContextManager[Any]] = asyncio.timeout
