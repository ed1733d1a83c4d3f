"""Readiness of a worker: asks what must be asked, measures the rest, and judges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from streams.canary.canary import Canary
from streams.health.judge import Measured, reasons
from streams.health.limits import HealthLimits
from streams.health.probes import Probe
from streams.health.reason import Reason
from streams.health.stage_state import StageState


class Watched(Protocol):
    """What is needed of the worker's application."""

    @property
    def partitions_held(self) -> int:
        """How many partitions are assigned to this worker."""

    @property
    def poll_age(self) -> float | None:
        """Seconds since the consumer last asked for records."""

    @property
    def states(self) -> list[StageState]:
        """Every stage as it is now."""


@dataclass(frozen=True)
class Readiness:
    """The answer: ready when there are no reasons; `stages` in either case. `canary_age` is in seconds, None where
    this worker flies none."""

    reasons: tuple[Reason, ...]
    stages: tuple[StageState, ...]
    canary_age: float | None = None

    def told(self) -> dict[str, Any]:
        """As JSON: `{status, reasons: [{code, detail, stage?, seconds?, limit?}], stages: {name: {…}}, canary?}`."""
        told: dict[str, Any] = {
            "status": "waiting" if self.reasons else "ok",
            "reasons": [reason.told() for reason in self.reasons],
            "stages": {state.stage: state.told() for state in self.stages},
        }
        if self.canary_age is not None:
            told["canary"] = {"seconds_since_success": round(self.canary_age, 1)}
        return told


class WorkerHealth:
    """Puts probes and measurements together."""

    def __init__(
        self, app: Watched, limits: HealthLimits, probes: Sequence[Probe], canary: Canary | None = None
    ) -> None:
        self._canary = canary
        self._app = app
        self._limits = limits
        self._probes = probes

    async def readiness(self) -> Readiness:
        """Why the worker is not ready, as of now. The probes are asked side by side."""
        found = await asyncio.gather(*(probe() for probe in self._probes))
        states = self._app.states
        if self._canary is not None:
            found.append(self._canary.reason(self._limits.canary))
        measured = Measured(
            partitions=self._app.partitions_held,
            poll_age=self._app.poll_age,
            stages=states,
            probes=[reason for reason in found if reason is not None],
        )
        age = None if self._canary is None else self._canary.age
        return Readiness(tuple(reasons(measured, self._limits)), tuple(states), age)
