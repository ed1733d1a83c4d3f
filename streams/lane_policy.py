"""How much runs at once, and how failures are tried again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LanePolicy:
    """Frozen settings of one stage's lanes.

    concurrency: handlers (and, apart from them, admissions) that run at once over all lanes of this process.
    ahead: preparations that run at once, over all lanes; what a model endpoint can take.
    max_pending: events of one partition that are taken in and not yet acknowledgeable; beyond, reading stops.
        Parked events do not count, nor those that are done and cannot be acknowledged because of them.
    share: events of one group that are taken in from a partition at once; what is beyond is passed over, and read
        again when there is room for it, so that nobody waits behind it.
    max_held: events of one partition, parked or done behind parked ones, that are held open; beyond, reading stops.
        All of them are read again after a restart.
    attempts: tries per phase for an error without a name of ours, before the event is dead-lettered.
    fenced_reruns: tries at once after Fenced; beyond, with pauses as in an outage, since an owner that is fenced
        time and again has lost its group and a rebalance is about to tell it so.
    longest_attempt: seconds that one attempt of a phase may take; then it is cut off and tried again as in an outage.
    first_pause, longest_pause: seconds; the pause doubles from one to the other and is cut by up to half at random,
        so that workers which failed together do not come back together.
    """

    concurrency: int = 16
    ahead: int = 16
    max_pending: int = 64
    share: int = 16
    max_held: int = 10_000
    attempts: int = 5
    fenced_reruns: int = 3
    longest_attempt: float = 1800.0
    first_pause: float = 0.5
    longest_pause: float = 30.0

    def __post_init__(self) -> None:
        for name in ("concurrency", "ahead", "max_pending", "share", "max_held", "attempts"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if not self.longest_attempt > 0:
            raise ValueError("longest_attempt must be above 0")
        if not 0 < self.first_pause <= self.longest_pause:
            raise ValueError("first_pause must be above 0 and at most longest_pause")

    def pause(self, failures: int, chance: float) -> float:
        """Seconds to wait after that many failures in a row; `chance` in [0, 1) is the jitter."""
        full = min(self.longest_pause, self.first_pause * 2.0 ** min(failures - 1, 30))
        return full * (0.5 + chance / 2)
