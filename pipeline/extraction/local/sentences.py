"""Texts to sentences, of bounded length, with their positions."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_SENTENCE = 600
"""Characters; a longer stretch without an end is cut at a space or, if there is none, anywhere."""

_END = re.compile(r"[.!?…]+[\"'”’)\]»]*(?=\s|$|<)|[。！？；…]+[”’」』）]*|\n+")
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:[A-ZÀ-Þ]|mr|mrs|ms|dr|prof|sr|sra|st|ltd|inc|co|corp|jr|no|vs|etc|e\.g|i\.e|approx|dept|s\.a|"
    r"[a-z]\.[a-z]|ud|uds|pág|núm)\.$",
    re.I,
)


def sentences(text: str) -> Iterator[tuple[int, int]]:
    """[start, end) of each sentence, without the white space around it; empty ones are left out."""
    start = 0
    for match in _END.finditer(text):
        dot = match.group() == "."
        if (
            dot
            and _ABBREVIATION.search(text[max(0, match.end() - 8) : match.end()])
            and not _closes(text, match.end())
        ):
            continue
        yield from _pieces(text, start, match.end())
        start = match.end()
    yield from _pieces(text, start, len(text))


def _closes(text: str, at: int) -> bool:
    """Whether an abbreviation is the last word of its sentence: nothing, or a new line, follows."""
    return not text[at : at + 200].split("\n", 1)[0].strip()


def _pieces(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    while end - start > MAX_SENTENCE:
        cut = text.rfind(" ", start + MAX_SENTENCE // 2, start + MAX_SENTENCE)
        cut = start + MAX_SENTENCE if cut < 0 else cut + 1
        yield start, cut
        start = cut
    if end > start:
        yield start, end
