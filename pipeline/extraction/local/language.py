"""Which of the three languages a text is in, by script and function words."""

from __future__ import annotations

import re

_HAN = re.compile(r"[\u3400-\u9fff]")
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_SPANISH = frozenset(
    [
        "el",
        "la",
        "los",
        "las",
        "un",
        "una",
        "de",
        "del",
        "en",
        "y",
        "que",
        "es",
        "soy",
        "está",
        "estoy",
        "con",
        "por",
        "para",
        "mi",
        "mis",
        "su",
        "sus",
        "me",
        "te",
        "se",
        "lo",
        "le",
        "no",
        "ya",
        "yo",
        "él",
        "ella",
        "muy",
        "pero",
        "como",
        "más",
        "al",
        "trabajo",
        "trabaja",
        "vivo",
        "vive",
        "tengo",
        "tiene",
        "gusta",
        "hola",
        "gracias",
        "desde",
        "hace",
        "cuando",
        "donde",
        "también",
        "fue",
        "era",
        "hay",
        "este",
        "esta",
        "ha",
        "he",
        "nos",
        "qué",
        "vivía",
        "llamo",
        "llama",
        "cada",
        "todos",
        "todas",
        "compré",
        "pedí",
        "hoy",
        "ayer",
        "semana",
        "mes",
        "año",
    ]
)
_ENGLISH = frozenset(
    [
        "the",
        "a",
        "an",
        "of",
        "in",
        "and",
        "that",
        "is",
        "am",
        "are",
        "i",
        "with",
        "for",
        "my",
        "his",
        "her",
        "to",
        "it",
        "was",
        "on",
        "at",
        "as",
        "but",
        "not",
        "you",
        "have",
        "has",
        "this",
        "we",
        "they",
        "he",
        "she",
        "do",
        "did",
        "live",
        "work",
        "works",
        "like",
        "from",
        "had",
        "been",
        "will",
        "moved",
        "joined",
        "today",
        "yesterday",
        "last",
        "week",
        "month",
        "year",
    ]
)
SAMPLE = 4_000


def language_of(text: str) -> str:
    """ "en", "es" or "zh"; English when nothing tells. Looks at the first `SAMPLE` characters."""
    sample = text[:SAMPLE]
    letters = len(_LETTER.findall(sample))
    if letters and len(_HAN.findall(sample)) / letters > 0.15:
        return "zh"
    words = [word.lower() for word in _WORD.findall(sample)]
    spanish = sum(word in _SPANISH for word in words) + 2 * len(re.findall(r"[ñ¿¡]", sample))
    english = sum(word in _ENGLISH for word in words)
    accents = len(re.findall(r"[áéíóú]", sample))
    return "es" if spanish + (accents > 0) > english else "en"
