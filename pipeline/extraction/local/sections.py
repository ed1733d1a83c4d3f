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


FULL_CHARACTERS = 32_768
"""So much of an episode is read with the language models; what follows, with patterns only."""
FACT_SENTENCES = 4_000
FACT_CHARACTERS = 262_144
"""Facts are looked for in so much of an episode, whichever limit comes first; after that only names are."""


@dataclass
class Budget:
    """How much of an episode has been read."""

    characters: int = 0
    sentences: int = 0


@dataclass(frozen=True)
class Section:
    """Names with positions in the section, and for each sentence with facts its start and its claims."""

    names: list[Name]
    claims: list[tuple[int, list[Claim]]]


def sections(
    text: str, tongue: Tongue, reference_time: datetime, language: str, budget: Budget
) -> Iterator[Section]:
    """The sections of a text, in order, each read as thoroughly as the budget of its episode still allows."""
    for start, end, spans in _grouped(text):
        section = text[start:end]
        full = budget.characters < FULL_CHARACTERS
        budget.characters += end - start
        names = tongue.names(section, full=full)
        trees = tongue.trees(section) if full else None
        claims: list[tuple[int, list[Claim]]] = []
        undated: list[Name] = []
        at = 0
        for first, last in spans:
            a, b = first - start, last - start
            inside: list[Name] = []
            while at < len(names) and names[at].start < b:
                if names[at].start >= a and names[at].end <= b:
                    inside.append(replace(names[at], start=names[at].start - a, end=names[at].end - a))
                at += 1
            budget.sentences += 1
            if budget.sentences > FACT_SENTENCES or budget.characters > FACT_CHARACTERS:
                undated += [replace(n, start=n.start + a, end=n.end + a) for n in inside]
                continue
            dates = resolve(section[a:b], reference_time, language)
            masked = mask(section[a:b], inside, dates)
            undated += [replace(n, start=n.start + a, end=n.end + a) for n in masked.names]
            found = tongue.claims(masked)
            if trees is not None:
                found = _with(found, trees(a, b, inside, masked))
            if found:
                claims.append((a, found))
        yield Section(undated, claims)


def _grouped(text: str) -> Iterator[tuple[int, int, list[tuple[int, int]]]]:
    spans: list[tuple[int, int]] = []
    for span in sentences(text):
        spans.append(span)
        if span[1] - spans[0][0] >= SECTION:
            yield spans[0][0], span[1], spans
            spans = []
    if spans:
        yield spans[0][0], spans[-1][1], spans


def _with(found: list[Claim], more: list[Claim]) -> list[Claim]:
    """What patterns found, and what the tree found about other pairs or one entity: a parser slips on coordination more
    often.

    A target that is a piece of one already found (or the other way round) is the same thing cut differently.
    """
    known = [(c.subject, c.target.text.lower()) for c in found if c.target]
    return found + [
        c
        for c in more
        if c.target is None
        or not any(
            c.subject == subject and (c.target.text.lower() in text or text in c.target.text.lower())
            for subject, text in known
        )
    ]
