"""Mentions and statements while an episode is being read: each mention once, by key."""

from __future__ import annotations

from typing import Any

from pipeline.identity import entity_key
from pipeline.model.extraction import Extraction, Mention, Statement

MAX_MENTIONS = 5_000
"""An episode leaves at most so many mentions; what a longer one names after that is only searchable as text."""


class Collected:
    """Collects what rules find in one episode. A name has one mention; the first type that is known for it stands."""

    def __init__(self) -> None:
        self._index: dict[str, int] = {}
        self._names: list[str] = []
        self._types: list[str | None] = []
        self._attributes: list[dict[str, Any]] = []
        self._statements: dict[tuple[object, ...], Statement] = {}

    def mention(
        self, name: str, kind: str | None = None, attributes: dict[str, Any] | None = None
    ) -> int | None:
        """The index of a name's mention, made when it is new; None when the name is empty or there are too many."""
        key = entity_key(name)
        if not key:
            return None
        index = self._index.get(key)
        if index is None:
            if len(self._names) >= MAX_MENTIONS:
                return None
            index = self._index[key] = len(self._names)
            self._names.append(name)
            self._types.append(kind)
            self._attributes.append({})
        if self._types[index] is None:
            self._types[index] = kind
        self._attributes[index].update(attributes or {})
        return index

    def state(self, statement: Statement) -> None:
        """Keeps a statement, unless the same was said before in this episode."""
        s = statement
        self._statements.setdefault((s.subject, s.relation, s.object, s.kind, s.valid_at, s.invalid_at), s)

    def type_of(self, index: int) -> str | None:
        """The type that is known so far for a mention."""
        return self._types[index]

    def result(self) -> Extraction:
        """The extraction, in order of appearance."""
        mentions = tuple(
            Mention(name=name, type=kind, attributes=attributes)
            for name, kind, attributes in zip(self._names, self._types, self._attributes, strict=True)
        )
        return Extraction(mentions=mentions, statements=tuple(self._statements.values()))
