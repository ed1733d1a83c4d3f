"""What a scenario reports, and the table of all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Report:
    """One scenario: what was done to it, and what the checker found. All findings of a sound run are empty."""

    scenario: str
    rounds: int = 0
    faults: int = 0
    acknowledged: int = 0
    dead: int = 0
    groups: int = 0
    equal_digests: int = 0
    lag: int = 0
    seconds: float = 0.0
    note: str = ""
    lost: list[str] = field(default_factory=list)
    twice: list[str] = field(default_factory=list)
    out_of_order: list[str] = field(default_factory=list)
    untrue: list[str] = field(default_factory=list)

    @property
    def sound(self) -> bool:
        """Whether the promise was kept."""
        faults = (self.lost, self.twice, self.out_of_order, self.untrue)
        return not any(faults) and self.equal_digests == self.groups and self.lag == 0

    def add(self, other: Report) -> None:
        """Takes in what another one has counted and found."""
        for name in (
            "acknowledged",
            "dead",
            "groups",
            "equal_digests",
            "lag",
            "lost",
            "twice",
            "out_of_order",
            "untrue",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def told(self) -> str:
        """For a failed test: everything that is wrong, shortened."""
        lines = [f"{self.scenario}: digests {self.equal_digests} of {self.groups} equal, lag {self.lag}"]
        for name in ("lost", "twice", "out_of_order", "untrue"):
            found: list[str] = getattr(self, name)
            lines += [f"  {name}: {text}" for text in found[:15]]
        return "\n".join(lines)


HEAD = (
    "scenario",
    "rounds",
    "faults",
    "acknowledged",
    "dead letters",
    "lost",
    "twice",
    "out of order",
    "digests equal",
    "lag",
    "seconds",
)


def table(reports: Sequence[Report]) -> str:
    """All reports as a Markdown table."""
    rows = [
        (
            r.scenario + (f" ({r.note})" if r.note else ""),
            *(str(n) for n in (r.rounds, r.faults, r.acknowledged, r.dead)),
            *(str(len(found)) for found in (r.lost, r.twice, r.out_of_order)),
            f"{r.equal_digests} of {r.groups}",
            str(r.lag),
            f"{r.seconds:.0f}",
        )
        for r in reports
    ]
    lines = [HEAD, tuple("---" for _ in HEAD), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
