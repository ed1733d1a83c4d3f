"""A sentence in which each name and each date is one character, so that patterns can be short and linear."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from pipeline.extraction.local.names.name import Name
from pipeline.timeline.dates import DateSpan

_NAMES, _DATES = 0xE000, 0xF000
_MAX = 0x0FFF
PRIVATE = re.compile("[\ue000-\uf8ff]")
"""Characters that a text must not bring along itself."""

MAX_CLAUSE = 300
"""A longer clause, with its names and dates as one character each, is no clause that patterns can make sense of."""

N = "[\ue000-\uefff]"
D = "[\uf000-\uf8ff]"


@dataclass(frozen=True)
class Masked:
    """`text` is the `original` sentence with names as characters of `N` and dates as characters of `D`."""

    text: str
    original: str
    names: tuple[Name, ...]
    dates: tuple[DateSpan, ...]

    def name(self, character: str) -> Name | None:
        """The name that a character stands for, without a type that is a guess; None when it stands for none."""
        index = ord(character) - _NAMES if len(character) == 1 else -1
        if not 0 <= index < len(self.names):
            return None
        name = self.names[index]
        return replace(name, kind=None) if name.guessed else name

    def dates_in(self, clause: str) -> tuple[DateSpan, ...]:
        """The dates of a piece of `text`, in order."""
        return tuple(
            self.dates[ord(c) - _DATES] for c in clause if _DATES <= ord(c) < _DATES + len(self.dates)
        )

    def shown(self, piece: str) -> str:
        """A piece of `text` with its names written out and its dates left out."""
        written = (
            self.names[ord(c) - _NAMES].text if _NAMES <= ord(c) < _NAMES + len(self.names) else c
            for c in piece
        )
        return " ".join(re.sub(D, " ", "".join(written)).split())


def mask(sentence: str, names: Sequence[Name], dates: Sequence[DateSpan]) -> Masked:
    """Masks a sentence. Positions are those of the sentence; a name that overlaps a date is a date."""
    dates = dates[:0x08FF]
    free = [n for n in names if not any(d.begin < n.end and n.start < d.stop for d in dates)][:_MAX]
    marks = sorted(
        [(n.start, n.end, chr(_NAMES + i)) for i, n in enumerate(free)]
        + [(d.begin, d.stop, chr(_DATES + i)) for i, d in enumerate(dates)]
    )
    pieces: list[str] = []
    at = 0
    for start, end, character in marks:
        if start < at:
            continue
        pieces += [sentence[at:start], character]
        at = end
    pieces.append(sentence[at:])
    return Masked("".join(pieces).replace("’", "'"), sentence.replace("’", "'"), tuple(free), tuple(dates))
