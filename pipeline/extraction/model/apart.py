"""Names that a model has put together ("Ana, Luis and Mei") are several ends of one fact. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection
from itertools import islice, product

from pipeline.extraction.model.answer import FoundFact
from pipeline.identity import entity_key

MAX_PAIRS = 100

_BETWEEN = re.compile(
    r"\s*[,;、，；]\s*(?:(?:and|y|e)\s+|和|与|及)?|\s+(?:and|&|y|e)\s+|\s*(?:和|与|及)\s*", re.I
)


def apart(fact: FoundFact, known: Collection[str]) -> list[FoundFact]:
    """The fact of each pair of names, all with its sentence; `known` are the keys of the names that there are.

    A name that is known as a whole ("Ernst and Young") is one, and so is one with a part that is not known.
    """
    subjects = _names(fact.subject, known)
    objects: list[str | None] = [*_names(fact.object, known)] if fact.object else [None]
    if len(subjects) == len(objects) == 1:
        return [fact]
    pairs = islice(product(subjects, objects), MAX_PAIRS)
    return [fact.model_copy(update={"subject": s, "object": o}) for s, o in pairs]


def _names(text: str, known: Collection[str]) -> list[str]:
    if entity_key(text) in known:
        return [text]
    parts = [part for part in _BETWEEN.split(text) if part.strip()]
    return parts if len(parts) > 1 and all(entity_key(part) in known for part in parts) else [text]
