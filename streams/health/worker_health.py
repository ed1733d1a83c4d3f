"""Readiness of a worker: asks what must be asked, measures the rest, and judges."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

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
    """The answer: ready when there are no reasons; `stages` in either case."""

    reasons: tuple[Reason, ...]
    stages: tuple[StageState, ...]

    def told(self) -> dict[str, Any]:
        """As JSON: `{status, reasons: [{code, detail, stage?, seconds?, limit?}], stages: {name: {…}}}`."""
        return {
            "status": "waiting" if self.reasons else "ok",
            "reasons": [reason.told() for reason in self.reasons],
            "stages": {state.stage: state.told() for state in self.stages},
        }


class WorkerHealth:
    """Puts probes and measurements together."""

    def __init__(self, app: Watched, limits: HealthLimits, probes: Sequence[Probe]) -> None:
        self._app = app
        self._limits = limits
        self._probes = probes

    async def readiness(self) -> Readiness:
        """Why the worker is not ready, as of now. The probes are asked side by side."""
        found = await asyncio.gather(*(probe() for probe in self._probes))
        states = self._app.states
        measured = Measured(
            partitions=self._app.partitions_held,
            poll_age=self._app.poll_age,
            stages=states,
            probes=[reason for reason in found if reason is not None],
        )
        return Readiness(tuple(reasons(measured, self._limits)), tuple(states))
