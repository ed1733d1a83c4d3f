"""Step: what leads from one version of the format to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """One kind of thing that a step changes, in batches.

    Args:
        name: of the part, for the note of how far it is; it never changes.
        read: gives rows with a field `id`, in order of it, of `$group_id` behind `$after`, at most `$limit`.
        change: from the rows to the parameter `rows` of `write`; pure.
        write: takes `$rows` of `$group_id`. Writing a batch again does nothing more.
    """

    name: str
    read: str
    change: Callable[[Sequence[Row]], list[dict[str, Any]]]
    write: str


@dataclass(frozen=True)
class Step:
    """Leads to `version`. `groups` gives the groups (field `id`); every part is done group by group."""

    version: int
    meaning: str
    groups: str
    parts: tuple[Part, ...]
