"""From text to the terms that BM25 counts, the same for what is stored and for what is asked.

Terms are runs of letters and digits with case and accents folded (NFKD without combining marks, then casefold);
scripts written without spaces (Han, Kana, Hangul) become overlapping bigrams, so that a word of two characters
matches as a word and not as two characters that happen to occur. A run of one such character is a term by itself.

What is indexed and what is searched are the stems of these terms (`search_text`, `query_terms`); a question also
loses the words that questions are made with.
"""

from __future__ import annotations

import re
import unicodedata

from pipeline.text.stems import stem
from pipeline.text.stop_words import STOP_WORDS

_RUN = re.compile(r"[^\W_]+")
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
_PIECE = re.compile(f"[{_UNSPACED}]+|[^{_UNSPACED}]+")
MAX_QUERY_TERMS = 512
MAX_TERM_LENGTH = 255


def fold(text: str) -> str:
    """Case and accents folded: "Ángel MÜLLER" becomes "angel muller". Hangul syllables stay whole."""
    if text.isascii():
        return text.casefold()
    decomposed = unicodedata.normalize("NFKD", text)
    bare = "".join(c for c in decomposed if not unicodedata.combining(c) and unicodedata.category(c) != "Cf")
    return unicodedata.normalize("NFC", bare).casefold()


def terms(text: str) -> list[str]:
    """The terms of a text, in order, with repeats."""
    folded = fold(text)
    if folded.isascii():
        return [run[:MAX_TERM_LENGTH] for run in _RUN.findall(folded)]
    found: list[str] = []
    for run in _RUN.findall(folded):
        for piece in _PIECE.findall(run):
            if re.match(f"[{_UNSPACED}]", piece):
                found += [piece] if len(piece) == 1 else [piece[i : i + 2] for i in range(len(piece) - 1)]
            else:
                found.append(piece[:MAX_TERM_LENGTH])
    return found


def query_terms(text: str) -> list[str]:
    """The distinct stems of a question, in order of first appearance, at most `MAX_QUERY_TERMS`.

    Stop words are left out unless there is nothing else. Of a longer question the rarest-looking (longest) terms are
    kept: they are the ones that find something.
    """
    every = terms(text)
    distinct = list(dict.fromkeys(stem(term) for term in every if term not in STOP_WORDS))
    if not distinct:
        distinct = list(dict.fromkeys(map(stem, every)))
    if len(distinct) <= MAX_QUERY_TERMS:
        return distinct
    kept = set(sorted(distinct, key=len, reverse=True)[:MAX_QUERY_TERMS])
    return [term for term in distinct if term in kept]


def search_text(*parts: str) -> str:
    """The stems of several texts joined by single spaces: the form in which a store indexes them."""
    return " ".join(stem(term) for part in parts for term in terms(part))
