"""The cost of one call, told apart by whom it served. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from pipeline.cost.metering import QUANTUM
from pipeline.model.episode import Usage

_COUNTS = sorted(set(Usage.model_fields) - {"cost"})


def divided(usage: Usage, weights: Sequence[int]) -> list[Usage]:
    """A share for each weight, in proportion; the sum of all is the usage, exactly. A call that cannot be divided
    (one call, eight shares) goes to the one at which a whole number is reached."""
    given = [max(1, weight) for weight in weights]
    whole = sum(given)
    made: list[Usage] = []
    before = dict.fromkeys(_COUNTS, 0)
    cost, weight = Decimal(0), 0
    for one in given:
        weight += one
        upto = {name: getattr(usage, name) * weight // whole for name in _COUNTS}
        paid = None
        if usage.cost is not None:
            due = usage.cost if weight == whole else (usage.cost * weight / whole).quantize(QUANTUM)
            paid, cost = due - cost, due
        made.append(Usage(**{name: upto[name] - before[name] for name in _COUNTS}, cost=paid))
        before = upto
    return made
