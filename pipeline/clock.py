"""The clock as an argument, so that tests decide what time it is."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Answers the present moment, in UTC."""


def system_clock() -> datetime:
    """The machine's clock, in UTC."""
    return datetime.now(UTC)
