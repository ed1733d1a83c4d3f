"""What waits of each group, as metrics of bounded number: the groups with most, the rest as one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from streams.canary.group import is_canary_group
from streams.group_usage import OTHER
from streams.metrics import GROUP_BACKLOG, PREFIX


class GroupBacklog(Collector):
    """Keeps the last report of each stage, and shows it when it is collected.

    Args:
        top: how many groups of a stage have series of their own: those with most events.
    """

    def __init__(self, top: int) -> None:
        self._top = top
        self._shown: dict[str, dict[str, int]] = {}

    def report(self, stage: str, backlog: Mapping[bytes, int]) -> None:
        """Takes the place of the stage's last report. The canary is nobody's group."""
        shown: Counter[str] = Counter()
        ranked = sorted(backlog.items(), key=lambda item: (-item[1], item[0]))
        for place, (group, events) in enumerate(one for one in ranked if not is_canary_group(one[0])):
            label = group.decode("utf-8", "replace") if place < self._top else OTHER
            shown[label] += events
        self._shown[stage] = dict(shown)

    def collect(self) -> Iterable[GaugeMetricFamily]:
        """At most `top` + 1 series of each stage."""
        family = GaugeMetricFamily(
            PREFIX + GROUP_BACKLOG.name,
            f"{GROUP_BACKLOG.meaning} ({GROUP_BACKLOG.unit})",
            labels=GROUP_BACKLOG.labels,
        )
        for stage, shown in self._shown.items():
            for group, events in shown.items():
                family.add_metric([stage, group], events)
        yield family
