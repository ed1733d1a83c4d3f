"""A text in sections of bounded size: the names and claims of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

from pipeline.extraction.local.facts.claim import Claim
from pipeline.extraction.local.facts.masked import mask
from pipeline.extraction.local.names.name import Name
from pipeline.extraction.local.sentences import sentences
from pipeline.extraction.local.tongues import Tongue
from pipeline.timeline.dates import resolve

SECTION = 6_000
"""Characters; a section ends with the sentence that goes beyond."""


@dataclass(frozen=True)
class Section:
    """Names with positions in the section, and for each sentence its start and its claims."""

    names: list[Name]
    claims: list[tuple[int, list[Claim]]]


def sections(text: str, tongue: Tongue, reference_time: datetime, language: str, full: int) -> Iterator[Section]:
    """The sections of a text, in order; those that begin before `full` are read with the language models."""
    for start, end, spans in _grouped(text):
        section = text[start:end]
        names = tongue.names(section, full=start < full)
        claims: list[tuple[int, list[Claim]]] = []
        trees = tongue.trees(section) if start < full else None
        at = 0
        for first, last in spans:
            a, b = first - start, last - start
            sentence = section[a:b]
            while at < len(names) and names[at].end <= a:
                at += 1
            inside: list[Name] = []
            for name in names[at:]:
                if name.start >= b:
                    break
                if name.start >= a and name.end <= b:
                    inside.append(replace(name, start=name.start - a, end=name.end - a))
            masked = mask(sentence, inside, resolve(sentence, reference_time, language))
            found = tongue.claims(masked)
            if trees is not None:
                found = _with(found, trees(a, b, inside, masked))
            if found:
                claims.append((a, found))
        yield Section(_outside_dates(names, section, reference_time, language), claims)


def _grouped(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    spans: list[tuple[int, int]] = []
    for span in sentences(text):
        spans.append(span)
        if span[1] - spans[0][0] >= SECTION:
            yield spans[0][0], span[1], spans
            spans = []
    if spans:
        yield spans[0][0], spans[-1][1], spans


def _outside_dates(names: list[Name], section: str, reference_time: datetime, language: str) -> list[Name]:
    dates = resolve(section, reference_time, language)
    return [n for n in names if not any(d.begin < n.end and n.start < d.stop for d in dates)]


def _with(found: list[Claim], more: list[Claim]) -> list[Claim]:
    """What patterns found, and what the tree found beyond it."""
    known = {(c.subject, c.relation, c.target) for c in found}
    return found + [c for c in more if (c.subject, c.relation, c.target) not in known]
