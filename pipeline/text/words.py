"""Closed lists of words, written as text."""

from __future__ import annotations


def word_set(text: str) -> frozenset[str]:
    """The words of a text that are separated by white space."""
    return frozenset(text.split())
