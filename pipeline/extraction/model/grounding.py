"""Whether what a model says stands in the text that it was given. Pure.

A name out of a prompt's example, out of the model's own knowledge or out of a request in the text to "add" something
has no words in the episode or its context, and goes.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from pipeline.text.analysis import fold, terms
from pipeline.text.words import word_set

NEEDED_SHARE = 0.5
"""Of the letters of a name, so many must stand in the text: "Bruno" grounds "Bruno Falk", "new" not "New Delhi"."""
MIN_STEM = 4

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_EMPTY_WORDS = word_set(
    """
    a an the of in on at to for from by with and or but is are was were be been has have had do does did
    not no it its this that his her their they he she i my me we our you your as into about el la los
    las un una de del en y o que es son fue era ha han se su sus con por para al lo le mi yo tu ok yes
    hi hello thanks si
    """
)
_YES = re.compile(
    r"^\W*(?:yes|yeah|yep|sure|correct|right|exactly|indeed|no|nope|sí|si|claro|exacto|correcto|是|对|没错|嗯|好的|不是|没有)(?!\w)",
    re.I,
)
_HAN_YES = re.compile(r"^\W*(?:是|对|没错|嗯|不是|没有)")


class Ground:
    """A text to stand on: the episode's own, and with it what surrounds it (context, speakers, descriptions)."""

    def __init__(self, own: str, around: Iterable[str] = ()) -> None:
        self._own = _Words(own)
        self._all = _Words("\n".join([own, *around]))
        self._answers = bool(_YES.match(own.strip()) or _HAN_YES.match(own.strip()))

    def has_name(self, name: str) -> bool:
        """Whether at least half of a name's letters belong to words of the text or of what surrounds it."""
        return self._all.share(name) >= NEEDED_SHARE

    def in_episode(self, name: str) -> bool:
        """The same, for the episode's own text only."""
        return self._own.share(name) >= NEEDED_SHARE

    def covers(self, text: str) -> float:
        """The share of a text's letters that belong to words of the text to stand on."""
        return self._own.share(text)

    def has_sentence(self, sentence: str) -> bool:
        """Whether a sentence is about this episode: some word with a meaning stands in the episode's own text.

        When the episode is an answer ("yes, I do"), the words of the question that it answers count as its own.
        """
        words = {term for term in terms(sentence) if term not in _EMPTY_WORDS}
        ground = self._all if self._answers else self._own
        return any(ground.has(word) for word in words)


class _Words:
    def __init__(self, text: str) -> None:
        self._terms = frozenset(terms(text))
        self._stems = frozenset(term[:n] for term in self._terms for n in range(MIN_STEM, len(term) + 1))
        self._folded = "".join(fold(text).split())

    def has(self, term: str) -> bool:
        """A term of the text, an inflection of one ("works", "worked"), or a run of characters in unspaced script."""
        if term in self._terms:
            return True
        if _UNSPACED.search(term):
            return term in self._folded
        stem = term[: max(MIN_STEM, -(-len(term) * 3 // 5))]
        return len(term) >= MIN_STEM and len(stem) >= MIN_STEM and stem in self._stems

    def share(self, name: str) -> float:
        found = terms(name)
        letters = sum(map(len, found))
        if not letters:
            # A name of symbols only ("🙂", "C++" without its letter) is looked for as it stands.
            bare = "".join(fold(name).split())
            return float(bool(bare) and bare in self._folded)
        return sum(len(term) for term in found if self.has(term)) / letters
