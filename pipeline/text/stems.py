"""Word stems, so that a question about painting finds who painted."""

from __future__ import annotations

import threading
from functools import lru_cache

import snowballstemmer

_MAX_CHARACTERS = 40
_english = snowballstemmer.stemmer("english")
# The stemmer keeps the word that it works on in itself.
_one_at_a_time = threading.Lock()


@lru_cache(maxsize=65_536)
def stem(term: str) -> str:
    """The stem of a folded term by the English Snowball rules (Porter 2001).

    The rules are the same whatever language a text is in: a question and the text that answers it may be in two
    languages, and the names that they share must come out alike. Terms with anything but the letters a to z stay.
    """
    if len(term) > _MAX_CHARACTERS or not (term.isascii() and term.isalpha()):
        return term
    with _one_at_a_time:
        stemmed: str = _english.stemWord(term)
    return stemmed
