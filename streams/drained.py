"""What became of the work that was running when lanes were told to stop."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Drained:
    """Counts of events: `finished` within the grace time, `given_back` unacknowledged, so that whoever has the partition
    next reads them again. Of the latter, `cut` had begun and did not end in time."""

    finished: int = 0
    given_back: int = 0
    cut: int = 0

    def __add__(self, other: Drained) -> Drained:
        return Drained(
            self.finished + other.finished, self.given_back + other.given_back, self.cut + other.cut
        )

    def told(self, grace: float) -> str:
        """For the log and for whoever stopped the worker."""
        text = f"{self.finished} running events finished, {self.given_back} given back to be read again"
        return text + (f" ({self.cut} were cut off after the grace time of {grace:g} s)" if self.cut else "")
