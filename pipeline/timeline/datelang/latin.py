"""Tokens of English and Spanish text, and the digits that look like dates but are none.

A run of characters with a digit in it is read as a whole: "12/05/2019", "Oct-2" and "2014-2018" are taken apart,
while "SR-2023-052", "2.0.1", "192.168.0.1" and "$2000" become one dead token that no rule can use.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from pipeline.timeline.datelang import calendar
from pipeline.timeline.datelang.cascade import FIXED, JUNK, Item
from pipeline.timeline.datelang.values import Fixed

Meaning = tuple[str, object]

_FOLD = {ord(a): b for a, b in zip("áéíóúüñàèìòùâêîôûäëïöýÿç", "aeiouunaeiouaeiouaeioyyc", strict=True)}
_FOLD |= {
    0x2019: "'",
    0x2018: "'",
    0x00BA: "o",
    0x00AA: "a",
    0xA0: " ",
    0x2013: "-",
    0x2014: "-",
    0x2212: "-",
}

_YMD = re.compile(r"(\d{4})([-/.])(\d{1,2})\2(\d{1,2})")
_DMY = re.compile(r"(\d{1,2})([-/.])(\d{1,2})(?:\2|,)(\d{4}|\d{2})")
_YM = re.compile(r"(\d{4})[-/](\d{1,2})")
_MY = re.compile(r"(\d{1,2})[-/](\d{4})")
_PAIR = re.compile(r"(\d{1,2})([-/.])(\d{1,2})")
_ISO = re.compile(r"(\d{4}-\d{2}-\d{2})[t_ ]\d{2}:?\d{2}(?::?\d{2}(?:\.\d+)?)?(?:z|[+-]\d{2}:?\d{2})?")
_PIECE = re.compile(r"[qht][1-4](?![a-z\d])|\d+|[a-z]+|[^a-z\d]")
# what may stand on both sides of a hyphen without a space
_RANGES = ("NN", "YY", "AA", "nn", "nA", "An")
_SPLIT = re.compile(r"[-~]")


@dataclass(frozen=True)
class Lexicon:
    """The words of one language. `words` and `phrases` map folded text to a code and a value.

    `day_first` says how "3/7/2017" is read; `suffixes` are what may follow a number ("21st", "3º");
    `names` are months and weekdays that with a capital are more often a person ("Julio").
    """

    words: Mapping[str, Meaning]
    phrases: Mapping[str, Meaning]
    suffixes: Mapping[str, str]
    day_first: bool
    names: frozenset[str] = frozenset()


def fold(text: str) -> str:
    """Lower case without accents, character for character, so that offsets stay those of the text."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    return lowered.translate(_FOLD)


class Lexer:
    """Cuts folded text into items for the cascade."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        phrases = "|".join(
            re.escape(p).replace(r"\ ", r"\s+") for p in sorted(lexicon.phrases, key=len, reverse=True)
        )
        self._scan = re.compile(
            r"(?P<junk>(?:https?://|www\.)\S+|(?<!\S)[^\s@]+@\S+|[@#$€£¥]\s?\w[\w.,]*|(?<![\w.,])\d[\d.,]*\s?[%$€£¥]"
            r"|\d{1,2}:\d{2}(?::\d{2})?(?:\s?[ap]\.?m\b\.?)?|(?<!\w)\d{1,2}\s?(?:[ap]\.m\.|[ap]m\b)"
            r"|(?<!\w)\d+\s?(?:dollars?|euros?|pesos|usd|eur|km|kg|mb|gb|ms)\b)"
            rf"|(?P<iso>(?<![\w.-]){_ISO.pattern}(?!\w))"
            rf"|(?P<phrase>(?<!\w)(?:{phrases})(?!\w))"
            r"|(?P<blob>'?(?:[a-z]+[-/.]?)?\d\w*(?:(?:[-/._#+:~](?=\w)|,(?=\d))\w+)*(?:'s\b)?)"
            r"|(?P<word>[^\W\d_]+(?:'[a-z]+)?)"
            r"|(?P<mark>[,\-/.~()=;:!?|\n])"
        )

    def __call__(self, text: str, folded: str) -> list[Item]:
        items: list[Item] = []
        for match in self._scan.finditer(folded):
            kind, found, begin, stop = match.lastgroup, match.group(), match.start(), match.end()
            if kind == "word" or kind == "phrase":
                items.extend(self._word(found, begin, stop, text))
            elif kind == "blob":
                items.extend(self._blob(found, begin))
            elif kind == "mark":
                dot = found == "." and items and items[-1].code in "MmWv" and items[-1].stop == begin
                if dot and begin - items[-1].begin <= 5:
                    continue
                items.append(
                    Item("-" if found == "~" else found if found in ",-/.()=" else ".", None, begin, stop)
                )
            elif kind == "iso" or match.group("iso"):
                items.append(self._iso(found, begin, stop))
            else:
                items.append(Item(JUNK, None, begin, stop))
        return items

    def _word(self, word: str, begin: int, stop: int, text: str) -> list[Item]:
        words = self._lexicon.words
        proper = text[begin].isupper()
        meaning = words.get(word) or self._lexicon.phrases.get(" ".join(word.split()))
        if meaning is None and "'" in word:
            # "week's", "today's": the possessive carries no time
            meaning = words.get(word.split("'")[0])
            meaning = meaning if meaning is not None and meaning[0] in "UTWRY" else None
        if meaning is None:
            return [Item("w", word, begin, stop, proper)]
        code = meaning[0]
        if proper and word in self._lexicon.names:
            code = {"M": "m", "W": "v"}.get(code, code)
        return [Item(code, meaning[1], begin, stop, proper)]

    def _iso(self, found: str, begin: int, stop: int) -> Item:
        day = _day(found[0:4], found[5:7], found[8:10])
        return Item(FIXED, day, begin, stop) if day else Item(JUNK, None, begin, stop)

    def _blob(self, blob: str, begin: int) -> list[Item]:
        one = numeric(blob, begin, day_first=self._lexicon.day_first)
        if one is not None:
            return [one]
        for cut in _SPLIT.finditer(blob):
            left = numeric(blob[: cut.start()], begin, day_first=self._lexicon.day_first)
            right = numeric(blob[cut.end() :], begin + cut.end(), day_first=self._lexicon.day_first)
            if left is not None and right is not None and (left.code + right.code) in _RANGES:
                return [left, Item("-", None, begin + cut.start(), begin + cut.end()), right]
        if blob.isascii() and not any(c.isalpha() for c in blob):
            return [Item(JUNK, None, begin, begin + len(blob))]
        return self._pieces(blob, begin) or [Item(JUNK, None, begin, begin + len(blob))]

    def _pieces(self, blob: str, begin: int) -> list[Item]:
        """ "Oct-2", "21st", "q1-2019", "3años": number and word tokens, if every piece is known."""
        items: list[Item] = []
        for match in _PIECE.finditer(blob):
            piece, at, stop = match.group(), begin + match.start(), begin + match.end()
            if piece.isdecimal():
                number = _number(piece, at, stop)
                if number is None:
                    return []
                items.append(number)
            elif (
                piece in self._lexicon.suffixes
                and len(items) > 1
                and items[-1].code == "."
                and items[-2].code == "N"
            ):
                # "1.º"
                items.pop()
                last = items.pop()
                items.append(Item(self._lexicon.suffixes[piece], last.value, last.begin, stop, True))
            elif (
                piece in self._lexicon.suffixes
                and items
                and items[-1].code in "NYQ"
                and items[-1].stop >= at - 1
            ):
                last = items.pop()
                items.append(Item(self._lexicon.suffixes[piece], last.value, last.begin, stop, True))
            elif piece[0].isalpha():
                meaning = self._lexicon.words.get(piece)
                if meaning is None or meaning[0] not in "MmWvUuQHtF":
                    return []
                items.append(Item(meaning[0], meaning[1], at, stop, True))
            elif piece == "'":
                continue
            elif piece in "-/.," and items:
                if piece != "." or items[-1].code not in "MmWv":
                    items.append(Item(piece, None, at, stop))
            else:
                return []
        return items


def numeric(blob: str, begin: int, *, day_first: bool) -> Item | None:
    """One number or one numeric date; None for anything else."""
    stop = begin + len(blob)
    if blob.isdecimal():
        return _number(blob, begin, stop)
    if blob[0] == "'" and blob[1:].isdecimal() and len(blob) == 3:
        return Item("y", int(blob[1:]), begin, stop)
    if match := _YMD.fullmatch(blob):
        day = _day(match[1], match[3], match[4])
        return Item(FIXED, day, begin, stop) if day else None
    if match := _DMY.fullmatch(blob):
        if match[2] == "." and len(match[4]) == 2:
            return None
        first, second = (match[1], match[3]) if day_first else (match[3], match[1])
        year = match[4] if len(match[4]) == 4 else str(full_year(int(match[4])))
        day = _day(year, second, first) or _day(year, first, second)
        return Item(FIXED, day, begin, stop) if day else None
    if (match := _YM.fullmatch(blob)) and _month_of_year(match[1], match[2]):
        return Item(FIXED, Fixed(calendar.month(int(match[1]), int(match[2]))), begin, stop)
    if (match := _MY.fullmatch(blob)) and _month_of_year(match[2], match[1]):
        return Item(FIXED, Fixed(calendar.month(int(match[2]), int(match[1]))), begin, stop)
    if (match := _PAIR.fullmatch(blob)) and match[2] != "-":
        return Item("n", (int(match[1]), int(match[3]), match[2]), begin, stop)
    return None


def full_year(two_digits: int) -> int:
    """1940-2039: what people talk about lies more often behind them than ahead."""
    return 1900 + two_digits if two_digits >= 40 else 2000 + two_digits


def _month_of_year(year: str, month: str) -> bool:
    return 1900 <= int(year) <= 2099 and 1 <= int(month) <= 12


def _number(digits: str, begin: int, stop: int) -> Item | None:
    if len(digits) == 4 and digits[0] != "0":
        return Item("Y", int(digits), begin, stop, True)
    return Item("N", int(digits), begin, stop, True) if len(digits) <= 3 else None


def _day(year: str, month: str, day: str) -> Fixed | None:
    try:
        return Fixed(calendar.day(date(int(year), int(month), int(day))))
    except (ValueError, OverflowError):
        # the digits have the shape of a date but name no day
        return None
