"""A name as it stands in a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Name:
    """`text[start:end]` names something of type `kind` (None: not known).

    A weak name may only be spelled like one (an acronym, the first word of a sentence): it becomes an entity only
    when a fact needs it. A guessed type gives way to the type that a fact tells.
    """

    text: str
    start: int
    end: int
    kind: str | None = None
    strong: bool = True
    guessed: bool = False
