"""Names in Latin script: runs of capitalised words, typed by the words in and around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pipeline.extraction.local.names.cues import Cues
from pipeline.extraction.local.names.name import Name

_LATIN = "A-Za-z\u00c0-\u024f"
_WORD = re.compile(rf"[{_LATIN}](?:[{_LATIN}0-9]|[-&+.'’](?=[{_LATIN}0-9]))*|[0-9]+(?:[{_LATIN}]+)?")
_POSSESSIVE = re.compile(r"(?:'s|’s|'|’)$", re.I)
_NO_PERSON = re.compile(
    r"(?:ing|tion|sion|ment|ness|ity|ics|ogy|ware|ship|ance|ence|ism|ble|ful|ous|ive|ects?|orks?|ies|[bcdfgklmpt]s|ths)$",
    re.I,
)
"""Endings of nouns and adjectives that surnames seldom have; they keep a title from being taken for a person."""
_OPENERS = re.compile(r"[.!?:;。！？：；\n\"“”«»(*•\-—–¿¡>]\s*[\"'“”‘«(*¿¡]*\s*$")
MAX_WORDS = 7


@dataclass(frozen=True)
class _Word:
    text: str
    start: int
    end: int

    @property
    def low(self) -> str:
        return self.text.lower()

    @property
    def capital(self) -> bool:
        return self.text[0].isupper()


class LatinNames:
    """Finds names by capitalisation. Without a lexicon a name at the head of a sentence needs a second sign."""

    def __init__(self, cues: Cues, *, spaced: bool = True) -> None:
        """`spaced`: sentences of the language start with a capital, so the first word's capital means little."""
        self._cues = cues
        self._spaced = spaced

    def find(self, text: str) -> list[Name]:
        """All names of a text, in order, not overlapping. Capitals in the middle of a sentence vouch for the same
        word at its head."""
        words = [_trimmed(m.group(), m.start()) for m in _WORD.finditer(text)]
        runs = [run for run in _runs(text, words, self._cues) if run[1] > run[0]]
        inside = {words[a].low for a, _ in runs if not self._opens(text, words, a)}
        found: list[Name] = []
        for first, stop in runs:
            start, end = words[first].start, words[stop - 1].end
            name = text[start:end]
            kind, guessed = self._kind(text, words, first, stop)
            strong = self._strong(text, words, first, stop, inside, kind)
            found.append(Name(name, start, end, kind, strong, guessed))
        return _short_forms(found)

    def _opens(self, text: str, words: list[_Word], first: int) -> bool:
        """Whether a word stands where any word would have a capital."""
        before = text[max(0, words[first].start - 8) : words[first].start]
        return self._spaced and (not before.strip() or bool(_OPENERS.search(before)))

    def _strong(
        self, text: str, words: list[_Word], first: int, stop: int, inside: set[str], kind: str | None
    ) -> bool:
        run = words[first:stop]
        if len(run) == 1 and run[0].text.isupper():
            return len(run[0].text) > 5
        if len(run) > 1 or not self._opens(text, words, first):
            return True
        if run[0].low in inside or kind == "Person":
            return True
        return _POSSESSIVE_AFTER.match(text, run[0].end) is not None and kind is not None

    def _kind(self, text: str, words: list[_Word], first: int, stop: int) -> tuple[str | None, bool]:
        cues, run = self._cues, words[first:stop]
        lows = [w.low.rstrip(".") for w in run]
        before = words[first - 1] if first and text[words[first - 1].end : run[0].start].isspace() else None
        after = _following(text, words, stop)
        if lows[-1] in cues.event:
            return "Event", False
        if len(run) > 1 and (lows[-1] in cues.organization or lows[0] in cues.organization):
            return "Organization", False
        if len(run) > 1 and (lows[-1] in cues.place or lows[0] in cues.place):
            return "Place", False
        if before and before.low in cues.title:
            return "Person", False
        for words_after, kind in (
            (cues.project_after, "Project"),
            (cues.product_after, "Product"),
            (cues.organization_after, "Organization"),
            (cues.place_after, "Place"),
        ):
            if after and after.low in words_after:
                return kind, False
        plain = all(re.fullmatch(rf"[{_LATIN}][{_LATIN}'’-]+", w.text) for w in run)
        titlecase = all(w.text[1:].islower() or "-" in w.text or "'" in w.text for w in run)
        determined = before is not None and before.low in cues.determiner
        if plain and not determined and after and after.low in cues.person_verbs and len(run) <= 3:
            return "Person", True
        plain = plain and titlecase
        titled = any(_NO_PERSON.search(w.text) for w in run)
        if before and before.low in cues.place_before and not titled and titlecase:
            return "Place", True
        if (
            plain
            and len(run) in (2, 3)
            and not determined
            and not titled
            and not any(w.text.isupper() for w in run)
        ):
            return "Person", True
        if (
            before
            and before.low in cues.person_before
            and len(run) == 1
            and plain
            and before.low not in ("and", "by")
        ):
            return "Person", True
        return None, False


_POSSESSIVE_AFTER = re.compile(r"['’]s?\b")


def _trimmed(word: str, start: int) -> _Word:
    bare = _POSSESSIVE.sub("", word)
    return _Word(bare, start, start + len(bare))


def _following(text: str, words: list[_Word], stop: int) -> _Word | None:
    if stop >= len(words):
        return None
    gap = text[words[stop - 1].end : words[stop].start]
    return words[stop] if gap in (" ", "'s ", "’s ") else None


def _runs(text: str, words: list[_Word], cues: Cues) -> Iterator[tuple[int, int]]:
    """[first, stop) of words that make one name, stop words at its head left out."""
    index = 0
    while index < len(words):
        if not words[index].capital or words[index].low in cues.stop:
            index += 1
            continue
        stop = index + 1
        while stop < len(words) and stop - index < MAX_WORDS:
            gap = text[words[stop - 1].end : words[stop].start]
            word = words[stop]
            if gap in (" ", " & ") and _continues(word, cues):
                stop += 1
            elif gap == " " and word.low in cues.joins and _joined(text, words, index, stop, cues):
                stop += 2 + (words[stop + 1].low in cues.joins)
            else:
                break
        yield index, stop
        index = stop


def _continues(word: _Word, cues: Cues) -> bool:
    if word.text[0].isdigit():
        return len(word.text) <= 5
    return word.capital and word.low not in cues.stop


def _joined(text: str, words: list[_Word], first: int, stop: int, cues: Cues) -> bool:
    """Whether "of", "de", … stands inside a name: "University of Leeds", "Vincent van Gogh"."""
    last = stop + 1 + (stop + 1 < len(words) and words[stop + 1].low in cues.joins)
    if last >= len(words) or not words[last].capital or words[last].low in cues.stop:
        return False
    if any(
        text[a.end : b.start] != " "
        for a, b in zip(words[stop:last], words[stop + 1 : last + 1], strict=True)
    ):
        return False
    heads = cues.organization | cues.place
    return (
        words[first].low in heads
        or words[stop - 1].low in heads
        or words[stop].low in ("van", "von", "der", "di", "da")
    )


def _short_forms(names: list[Name]) -> list[Name]:
    """A person's first or last name alone stands for the one full name that it is part of."""
    full: dict[str, set[str]] = {}
    for name in names:
        if name.kind == "Person" and " " in name.text:
            for part in (name.text.split()[0], name.text.split()[-1]):
                full.setdefault(part, set()).add(name.text)
    return [
        replace(name, text=next(iter(full[name.text])), kind="Person", strong=True)
        if name.kind in (None, "Person") and len(full.get(name.text, ())) == 1
        else name
        for name in names
    ]
