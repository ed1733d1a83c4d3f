"""Whom a third-person pronoun means: only what is unambiguous counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pipeline.identity import entity_key

_PLURAL = frozenset(["they", "we", "them", "their", "ellos", "ellas", "nosotros", "su", "他们", "她们"])


class People:
    """The people named so far in an episode, and in the context before it, which is only read when it is needed."""

    def __init__(self, context: Callable[[], Iterable[str]]) -> None:
        self._context = context
        self._before: set[str] | None = None
        self._named: dict[str, str] = {}
        self._speakers: set[str] = set()

    def speaks(self, name: str) -> None:
        """Speakers are "I" and "you" in a conversation; "he" and "she" are others."""
        self._speakers.add(entity_key(name))

    def named(self, name: str) -> None:
        """A person named in the episode."""
        self._named.setdefault(entity_key(name), name)

    def meant_by(self, pronoun: str) -> str | None:
        """The one person that a singular pronoun can mean, or None.

        That is the only person named in the episode up to here or, when there is none, the only one named in the
        context. Speakers do not count.
        """
        if pronoun in _PLURAL:
            return None
        here = {key: name for key, name in self._named.items() if key not in self._speakers}
        if here:
            return next(iter(here.values())) if len(here) == 1 else None
        if self._before is None:
            self._before = set(self._context())
        known = {entity_key(name): name for name in sorted(self._before)}
        others = [name for key, name in known.items() if key not in self._speakers]
        return others[0] if len(others) == 1 else None
