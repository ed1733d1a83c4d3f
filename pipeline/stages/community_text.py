"""The name and summary of a community, from its members alone. Pure; used when no model writes them."""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.model.entity import Entity

NAMED_MEMBERS = 3
SUMMARY_SENTENCES = 6


def community_name(members: Sequence[Entity]) -> str:
    """The members with most facts, best first: "Ana, Acme, Lima and 4 more"."""
    names = [e.name for e in members[:NAMED_MEMBERS]]
    more = len(members) - len(names)
    return ", ".join(names) + (f" and {more} more" if more > 0 else "")


def says_all(members: Sequence[Entity]) -> bool:
    """Whether the summary made by rule has room for everything that is known of the members."""
    told = {line.text for e in members for line in e.lines} | {
        e.description for e in members if e.description
    }
    return len(told) <= SUMMARY_SENTENCES


def community_summary(members: Sequence[Entity]) -> str:
    """Sentences of current facts, each once, taken in turn from the members so that none fills it alone."""
    columns = [
        [line.text for line in reversed(e.lines)] or ([e.description] if e.description else [])
        for e in members
    ]
    sentences: dict[str, None] = {}
    for rank in range(max(map(len, columns), default=0)):
        for column in columns:
            if rank < len(column):
                sentences.setdefault(column[rank])
            if len(sentences) == SUMMARY_SENTENCES:
                return " ".join(sentences)
    return " ".join(sentences)
