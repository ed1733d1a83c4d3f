"""What each language brings: how it finds names and facts, loaded when it is first needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Protocol

from pipeline.extraction.local.english_model import EnglishModel
from pipeline.extraction.local.facts import chinese, english, english_tree, spanish
from pipeline.extraction.local.facts.claim import Claim
from pipeline.extraction.local.facts.masked import Masked
from pipeline.extraction.local.names.chinese import ChineseNames
from pipeline.extraction.local.names.cues import ES
from pipeline.extraction.local.names.english import EnglishNames
from pipeline.extraction.local.names.latin import LatinNames
from pipeline.extraction.local.names.name import Name

TreeReader = Callable[[int, int, Sequence[Name], Masked], list[Claim]]
"""The claims of the sentence at [start, end) of a parsed section, given its names and its masked form."""


class Tongue(Protocol):
    """One language."""

    def names(self, text: str, *, full: bool) -> list[Name]:
        """Names of a text, in order, not overlapping; `full` allows language models."""

    def claims(self, masked: Masked) -> list[Claim]:
        """Facts of one sentence, by patterns."""

    def trees(self, text: str) -> TreeReader | None:
        """A reader of sentences of this text by their grammar; None when the language has no parser."""


class Spanish:
    """Patterns only."""

    def __init__(self) -> None:
        self._names = LatinNames(replace(ES, stop=ES.stop | spanish.VERB_FORMS))

    def names(self, text: str, *, full: bool) -> list[Name]:
        """By capitals and cue words."""
        return self._names.find(text)

    def claims(self, masked: Masked) -> list[Claim]:
        """By patterns."""
        return spanish.claims(masked)

    def trees(self, text: str) -> None:
        """Spanish has no parser here."""


class Chinese:
    """Patterns, and jieba's tags for names when it is installed."""

    def __init__(self) -> None:
        self._names = ChineseNames()

    def names(self, text: str, *, full: bool) -> list[Name]:
        """By Latin capitals, endings, and jieba."""
        return self._names.find(text, full=full)

    def claims(self, masked: Masked) -> list[Claim]:
        """By patterns."""
        return chinese.claims(masked)

    def trees(self, text: str) -> None:
        """Chinese has no parser here."""


class English:
    """Patterns, and spaCy's small English model when it is installed."""

    def __init__(self) -> None:
        self._model = EnglishModel()
        self._names = EnglishNames(self._model)

    def names(self, text: str, *, full: bool) -> list[Name]:
        """By capitals and cue words, with spaCy's labels where the words do not tell."""
        return self._names.find(text, full=full)

    def claims(self, masked: Masked) -> list[Claim]:
        """By patterns."""
        return english.claims(masked)

    def trees(self, text: str) -> TreeReader | None:
        """By spaCy's dependencies; None when it is not installed."""
        document = self._model.parse(text)
        return None if document is None else partial(english_tree.claims, document)


class Tongues:
    """The three languages."""

    def __init__(self) -> None:
        self._known: dict[str, Tongue] = {"en": English(), "es": Spanish(), "zh": Chinese()}

    def of(self, language: str) -> Tongue:
        """The tongue of a language code; English for any other."""
        return self._known.get(language, self._known["en"])
