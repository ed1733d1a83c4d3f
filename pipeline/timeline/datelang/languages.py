"""The languages by their code, and the guess which one a text is in."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date

from pipeline.timeline.datelang import cascade, chinese, english, english_words, spanish, spanish_words
from pipeline.timeline.datelang.cascade import Item, Rule

_HAN = re.compile(r"[\u4e00-\u9fff]")
_WORD = re.compile(r"[^\W\d_]+")
_RESULTS = (cascade.FIXED, cascade.RECURRING, cascade.RELATION)


@dataclass(frozen=True)
class Language:
    """A grammar with what it reads: `future` and `past` are words that settle which way a date points."""

    lexer: Callable[[str, str], list[Item]]
    prepare: Callable[[list[Item]], list[Item]]
    stages: list[list[Rule]]
    future: re.Pattern[str]
    past: re.Pattern[str]

    def read(self, text: str, folded: str, today: date) -> list[Item]:
        items = self.prepare(self.lexer(text, folded))
        return [item for item in cascade.run(self.stages, items, today) if item.code in _RESULTS]


_EN = set(english_words.WORDS) | {word for phrase in english_words.PHRASES for word in phrase.split()}
_ES = set(spanish_words.WORDS) | {word for phrase in spanish_words.PHRASES for word in phrase.split()}
_MARKS = {
    "en": _EN - _ES | {"is", "was", "i'm", "with", "that", "have", "my"},
    "es": _ES - _EN | {"el", "la", "los", "las", "que", "una", "en", "con", "por", "para", "muy", "pero"},
}

LANGUAGES = {
    "en": Language(english.lexer, english.prepare, english.STAGES, english.FUTURE, english.PAST),
    "es": Language(spanish.lexer, spanish.prepare, spanish.STAGES, spanish.FUTURE, spanish.PAST),
    "zh": Language(chinese.lexer, chinese.prepare, chinese.STAGES, chinese.FUTURE, chinese.PAST),
}


def guess(folded: str) -> list[str]:
    """The languages to read a text in, the likeliest first: Chinese for Han characters, else by the words it uses.

    A second language follows when the text has words for it too: "会议 on 5 May" is read in both.
    """
    words = set(_WORD.findall(folded))
    counts = {code: len(words & marks) for code, marks in _MARKS.items()}
    order = sorted((code for code in counts if counts[code]), key=lambda code: -counts[code])
    if _HAN.search(folded):
        return ["zh", *order]
    return order or ["en"]
