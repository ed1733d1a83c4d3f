"""How much a group may cost a day. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Literal

from pipeline.errors import SettingError
from pipeline.model.episode import Usage

_FORM = re.compile(r"(\d[\d_]*(?:\.\d+)?)\s*(tokens|cost)")


@dataclass(frozen=True)
class Budget:
    """An amount for one UTC day: of tokens (prompt, completion and embedding), or of cost in the prices' unit."""

    amount: Decimal
    of: Literal["tokens", "cost"]

    @classmethod
    def read(cls, text: str) -> Budget:
        """From "500000 tokens" or "2.50 cost". Raises SettingError."""
        found = _FORM.fullmatch(text.strip())
        if found is None or (found[2] == "tokens" and "." in found[1]):
            raise SettingError(f'{text!r} is no budget: write "500000 tokens" or "2.50 cost"')
        return cls(Decimal(found[1].replace("_", "")), "tokens" if found[2] == "tokens" else "cost")

    def measure(self, usage: Usage) -> Decimal:
        """How much of what is limited was used."""
        return Decimal(usage.tokens) if self.of == "tokens" else usage.cost or Decimal(0)

    def __str__(self) -> str:
        return f"{self.amount} {self.of}"


@dataclass(frozen=True)
class Budgets:
    """The budget of every group, and those of some; None is no limit."""

    default: Budget | None = None
    groups: Mapping[str, Budget | None] = field(default_factory=dict)

    @classmethod
    def read(cls, default: str | None, groups: Mapping[str, str | None]) -> Budgets:
        """From settings. Raises SettingError."""
        return cls(
            None if default is None else Budget.read(default),
            {group: None if text is None else Budget.read(text) for group, text in groups.items()},
        )

    def __bool__(self) -> bool:
        return self.default is not None or any(self.groups.values())

    @property
    def counts_cost(self) -> bool:
        """Whether any of them is one of cost, which needs prices."""
        return any(b is not None and b.of == "cost" for b in (self.default, *self.groups.values()))

    def of(self, group_id: str) -> Budget | None:
        """The budget of a group."""
        return self.groups.get(group_id, self.default)
