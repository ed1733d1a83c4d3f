"""A question without the names in it: what is left says what is asked, whoever it is about.

Every turn of a conversation is embedded with its speaker, and half of what people say to each other holds a name. A
small embedding model then finds a question that names somebody near to whatever that person said. Names are what text
search is good at; the vector is better spent on the rest. Measured, see docs/retrieval.md.
"""

from __future__ import annotations

import re

from pipeline.text.analysis import fold
from pipeline.text.stop_words import STOP_WORDS
from pipeline.text.words import word_set

_EDGES = re.compile(r"^\W+|\W+$")
_POSSESSIVE = re.compile(r"['’]s$|(?<=s)['’]$")
_SENTENCE_END = (".", "?", "!", ":", "…")
_PARTS = re.compile(r"['’-]")
MIN_FUNCTION_WORDS = 2
"""So many words of English or Spanish tell that a text is in a language that writes only names in capitals."""

_NOUNS_IN_CAPITALS = word_set("""
    der das und ist sind hat haben wer wo wann wie warum welche welcher ein eine einen im zu zur zum mit von vom
    ich du wir ihr nicht auf fur aus bei nach
""")
"""Words of German, which writes every noun like a name: there nothing is left out."""


def without_names(question: str) -> str:
    """The question without words that are written as names are: one capital, then small letters, inside a sentence.

    "When did Ana's sister move to Rome?" becomes "When did sister move to". The question comes back as it is when it
    is in no language that this can be told of, when it is a title, and when too little would be left.
    """
    words = question.split()
    folded = [fold(_EDGES.sub("", word)) for word in words]
    if any(word in _NOUNS_IN_CAPITALS for word in folded):
        return question
    if sum(word in STOP_WORDS for word in folded) < MIN_FUNCTION_WORDS:
        return question
    kept = [word for place, word in enumerate(words) if not _is_name(words, place)]
    left = [word for word in kept if (bare := fold(_EDGES.sub("", word))) and bare not in STOP_WORDS]
    if len(kept) == len(words) or len(kept) * 2 < len(words) or not left:
        return question
    return " ".join(kept)


def _is_name(words: list[str], place: int) -> bool:
    if place == 0 or words[place - 1].endswith(_SENTENCE_END):
        return False
    bare = _POSSESSIVE.sub("", _EDGES.sub("", words[place]))
    parts = [part for part in _PARTS.split(bare) if part]
    return len(bare) > 1 and bool(parts) and parts[0][0].isupper() and all(map(_capitalised, parts))


def _capitalised(part: str) -> bool:
    return part.isalpha() and (len(part) == 1 or part[1:].islower())
