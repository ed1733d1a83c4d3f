"""Time and chance for whoever waits on an endpoint, as one argument, so that tests decide both."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from pipeline.clock import Clock, system_clock


@dataclass(frozen=True, slots=True)
class Timing:
    """`sleep` takes seconds, `monotonic` answers seconds that never go back, `chance` is in [0, 1), `clock` is UTC."""

    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    monotonic: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = random.random
    clock: Clock = system_clock
