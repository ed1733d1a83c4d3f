"""The question at the end of every scenario."""

from __future__ import annotations

from typing import Any

from tests.faults.checker import compare
from tests.faults.graph_checks import Expected
from tests.faults.load import VARIANTS
from tests.faults.report import Report
from tests.faults.site import Site


async def judged(report: Report, made: Site, groups: list[str], wanted: list[Expected], **more: Any) -> None:
    """Compares an installation whose workers have ended with the undisturbed outcome of its groups' variants."""
    by_group = {group: wanted[place % VARIANTS] for place, group in enumerate(groups)}
    compare(report, made.published, await made.seen(), by_group, **more)
