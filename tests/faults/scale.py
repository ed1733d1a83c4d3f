"""How much a run does: all of it, or the short form that every test run can afford."""

from __future__ import annotations

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Scale:
    """Frozen sizes. Seconds are those for which something is gone, slow or paused."""

    name: str
    kill_rounds: int
    kill_sites: int
    groups: int
    events: int
    outage: float
    slow_model: tuple[float, float]
    pauses: int

    @property
    def full(self) -> bool:
        """Whether this is the whole run."""
        return self.name == "full"


FULL = Scale(
    "full",
    kill_rounds=200,
    kill_sites=4,
    groups=12,
    events=16,
    outage=120.0,
    slow_model=(5.0, 60.0),
    pauses=6,
)
SHORT = Scale(
    "short", kill_rounds=10, kill_sites=2, groups=6, events=10, outage=10.0, slow_model=(1.0, 5.0), pauses=2
)


def asked_scale() -> Scale:
    """FAULTS=full, or the short form."""
    return {"full": FULL, "short": SHORT}[os.environ.get("FAULTS", "short")]
