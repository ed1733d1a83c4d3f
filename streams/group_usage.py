"""What groups have cost since midnight, as metrics of bounded number: the ones that cost most, the rest as one."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, date

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from pipeline.clock import Clock
from pipeline.model.episode import Usage
from streams.metrics import GROUP_USAGE, PREFIX

OTHER = "other"
"""The label of all groups that have no series of their own. A group of that name is counted there, too."""

_KINDS = (
    "llm_calls",
    "prompt_tokens",
    "cached_tokens",
    "completion_tokens",
    "embeddings",
    "embedding_tokens",
    "cost",
)


class GroupUsage(Collector):
    """Adds up by group what this process commits on a day (UTC), and shows it when it is collected.

    Args:
        top: how many groups have series of their own: those with the highest cost, then the most tokens.
    """

    def __init__(self, top: int, clock: Clock) -> None:
        self._top = top
        self._clock = clock
        self._day: date | None = None
        self._groups: dict[str, Usage] = {}

    def add(self, group_id: str, usage: Usage) -> None:
        """One commit."""
        self._turn()
        self._groups[group_id] = self._groups.get(group_id, Usage()) + usage

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """At most `top` + 1 series of each kind."""
        self._turn()
        family = GaugeMetricFamily(
            PREFIX + GROUP_USAGE.name,
            f"{GROUP_USAGE.meaning} ({GROUP_USAGE.unit})",
            labels=GROUP_USAGE.labels,
        )
        for group, usage in self.shown().items():
            for kind in _KINDS:
                value = getattr(usage, kind)
                if value is not None:
                    family.add_metric([group, kind], float(value))
        yield family

    def shown(self) -> dict[str, Usage]:
        """The usage by label."""
        ranked = sorted(self._groups.items(), key=_most_first)
        made: dict[str, Usage] = {}
        for place, (group, usage) in enumerate(ranked):
            label = group if place < self._top else OTHER
            made[label] = made.get(label, Usage()) + usage
        return made

    def _turn(self) -> None:
        day = self._clock().astimezone(UTC).date()
        if day != self._day:
            self._day = day
            self._groups = {}


def _most_first(item: tuple[str, Usage]) -> tuple[float, int, str]:
    group, usage = item
    return -float(usage.cost or 0), -usage.tokens, group
