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
        read: gives rows with the fields `group` and `id`, in order of them, behind (`$group`, `$after`), at most
            `$limit`; of the groups `$within`, where that names any.
        change: from the rows to the parameter `rows` of `write`; pure.
        write: takes `$rows`. Writing a batch again does nothing more.
    """

    name: str
    read: str
    change: Callable[[Sequence[Row]], list[dict[str, Any]]]
    write: str


@dataclass(frozen=True)
class Step:
    """Leads to `version`, part by part."""

    version: int
    meaning: str
    parts: tuple[Part, ...]
