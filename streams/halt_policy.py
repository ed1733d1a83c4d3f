"""When a stage stops itself."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HaltPolicy:
    """Frozen settings. consecutive: deaths in a row; 0: never for that. ratio: share of deaths among the last `window`
    outcomes, once there are so many; 0: never for that. pause: seconds until one event is tried again."""

    consecutive: int = 50
    ratio: float = 0.5
    window: int = 200
    pause: float = 300.0

    def __post_init__(self) -> None:
        if self.consecutive < 0 or not 0 <= self.ratio <= 1 or self.window < 1 or self.pause <= 0:
            raise ValueError(
                "consecutive must be at least 0, ratio from 0 to 1, window at least 1, pause above 0"
            )
