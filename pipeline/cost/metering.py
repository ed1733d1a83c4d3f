"""Who pays for an embedding: vectors are asked for deep inside a stage, their cost belongs to its episode."""

from __future__ import annotations

from collections.abc import Sequence
from contextvars import ContextVar
from decimal import Decimal

from pipeline.llm.tokens import estimate
from pipeline.model.episode import Usage

QUANTUM = Decimal(1).scaleb(-12)


class Meter:
    """Adds up what is charged to the task that began it, and to the tasks that this one starts."""

    def __init__(self) -> None:
        self.usage = Usage()

    @classmethod
    def begin(cls) -> Meter:
        """From now on this task is charged here, until it begins another meter."""
        meter = cls()
        _current.set(meter)
        return meter


_current: ContextVar[Meter | None] = ContextVar("factstream_meter", default=None)


def charge(usage: Usage) -> bool:
    """Charge whoever is metered now; False when nobody is."""
    meter = _current.get()
    if meter is None:
        return False
    meter.usage += usage
    return True


def shares(usage: Usage, texts: Sequence[str]) -> list[Usage]:
    """The cost of one request for embeddings, told apart by its texts: in proportion to their length, the sum exact."""
    weights = [max(1, estimate(text)) for text in texts]
    whole = sum(weights)
    made: list[Usage] = []
    tokens, cost, weight = 0, Decimal(0), 0
    for one in weights:
        weight += one
        upto = usage.embedding_tokens * weight // whole
        paid = None
        if usage.cost is not None:
            due = usage.cost if weight == whole else (usage.cost * weight / whole).quantize(QUANTUM)
            paid, cost = due - cost, due
        made.append(Usage(embedding_tokens=upto - tokens, cost=paid))
        tokens = upto
    return made
