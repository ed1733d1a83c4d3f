"""The forms in which a text may stand in a database: as it is, inside JSON, analysed for full text."""

from __future__ import annotations

import json
from collections.abc import Sequence

from pipeline.text.analysis import terms


def needles(text: str) -> tuple[str, ...]:
    """What to look for, in lower case and casefolded, each once; never empty strings.

    The analysed form stands between spaces, as the terms of a stored text do, so that a term is not found in a longer
    one; pad what is searched for it with spaces.
    """
    escaped = [json.dumps(text, ensure_ascii=ascii_)[1:-1] for ascii_ in (False, True)]
    # Texts inside texts: an event is kept as JSON, and some events hold JSON.
    twice = [json.dumps(e, ensure_ascii=False)[1:-1] for e in escaped]
    found = [text, *escaped, *twice]
    analysed = " ".join(terms(text))
    if analysed:
        found.append(f" {analysed} ")
    return tuple(dict.fromkeys(form for f in found if f.strip() for form in (f.casefold(), f.lower())))


def stands_in(value: str, wanted: Sequence[str]) -> bool:
    """Whether any of the needles stands in a stored text, in whatever case."""
    return any(needle in f" {value.casefold()} " or needle in f" {value.lower()} " for needle in wanted)
