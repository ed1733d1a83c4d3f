"""Long texts in pieces that a model can take, cut where sentences end. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from pipeline.extraction.local.sentences import sentences


def chunks(text: str, size: int, overlap: int) -> list[str]:
    """Pieces of about `size` characters at most, each beginning with up to `overlap` characters of whole sentences
    from the end of the one before. A text that fits is one piece."""
    if len(text) <= size:
        return [text]
    spans = list(sentences(text))
    pieces: list[str] = []
    first = 0
    while first < len(spans):
        last = first
        while last + 1 < len(spans) and spans[last + 1][1] - spans[first][0] <= size:
            last += 1
        pieces.append(text[spans[first][0] : spans[last][1]])
        if last + 1 >= len(spans):
            break
        following = last + 1
        # Step back over sentences that fit into the overlap, but always forward from where this piece began.
        while following - 1 > first and spans[last][1] - spans[following - 1][0] <= overlap:
            following -= 1
        first = following
    return pieces


def record_chunks(content: Any, size: int) -> list[str]:
    """A JSON value as text, in pieces that each hold whole records where the value is a list of them."""
    whole = json.dumps(content, ensure_ascii=False, indent=1)
    if len(whole) <= size:
        return [whole]
    if isinstance(content, Sequence) and not isinstance(content, str) and len(content) > 1:
        middle = len(content) // 2
        return record_chunks(content[:middle], size) + record_chunks(content[middle:], size)
    lines = whole.split("\n")
    pieces: list[str] = []
    held: list[str] = []
    length = 0
    for line in (part for full in lines for part in _cut(full, size)):
        if held and length + len(line) > size:
            pieces.append("\n".join(held))
            held, length = [], 0
        held.append(line)
        length += len(line) + 1
    return [*pieces, "\n".join(held)]


def _cut(line: str, size: int) -> list[str]:
    return [line[i : i + size] for i in range(0, max(len(line), 1), size)]
