"""Marks of a name that tell members of a series apart: numbers, letters, versions, months, directions. Pure.

Two names whose marks contradict each other are different things, however alike they are otherwise ("SR-2023-052" and
"SR-2023-053", "Phase II" and "Phase III", "10月" and "11月", "河南" and "河北"). A name without a mark that the other has
is different too when the mark is a number, a version or a letter at the end ("Python" and "Python 3", "Hepatitis" and
"Hepatitis B"); a title, an initial, a month or a number word may be left out by one of the two.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass

from pipeline.identity import entity_key
from pipeline.stages.name_words import (
    COMPASS,
    DESIGNATED,
    GENERATIONS,
    HAN_DIGITS,
    HAN_OPPOSITES,
    HAN_UNITS,
    HAN_VARIANTS,
    MONTHS_AND_DAYS,
    NUMBER_WORDS,
    PLAIN_LETTERS,
)

_HAN = re.compile(r"[㐀-鿿]")
_HAN_NUMBER = re.compile(
    f"第([{''.join(HAN_DIGITS)}{''.join(HAN_UNITS)}]+)"
    f"|([{''.join(HAN_DIGITS)}{''.join(HAN_UNITS)}]+)(?=[年月日号號期代版届屆楼樓层層区區室班级級厂廠队隊季集章册冊卷路线線环環院中])"
)
_GROUPED = re.compile(r"(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)")
_ABBREVIATION = re.compile(r"(?<![^\W_])((?:[a-z]\.){2,})(?=\s*$|[^\w\s.])")
_JOINED_LETTER = re.compile(r"(?<![^\W_])[a-z](?=['’&])|(?<=['’&])[a-z](?![^\W_])")
_LETTER_CODE = re.compile(r"(?<![^\W_])([a-z])[\s\-.]?(?=\d)")
_WORD = re.compile(r"\d+|[^\W\d_]+")
_CODE = re.compile(r"[^\W_]+(?:[-_./#:][^\W_]+)+|[^\W_]*\d[^\W_]*")
_ROMAN = re.compile(r"(?:x{0,3})(?:ix|iv|v?i{0,3})")
_ROMAN_VALUES = {"i": 1, "v": 5, "x": 10}


@dataclass(frozen=True)
class _Marks:
    numbers: Counter[str]
    words: Counter[str]
    letters: frozenset[str]
    initials: frozenset[str]
    calendar: frozenset[str]
    generation: frozenset[str]
    compass: frozenset[str]


def tell_apart(one: str, other: str) -> bool:
    """Whether two names can only be two things, by their marks."""
    a, b = entity_key(one), entity_key(other)
    if a == b:
        return False
    both_han = bool(_HAN.search(a)) and bool(_HAN.search(b))
    first, second = _marks(a, b, both_han), _marks(b, a, both_han)
    return (
        not _numbers_agree(first, second)
        or first.letters != second.letters
        or _initials_differ(first, second)
        or _both_and_differ(first.calendar, second.calendar)
        or _both_and_differ(first.generation, second.generation)
        or _both_and_differ(first.compass, second.compass)
        or (both_han and _opposite_characters(a, b))
        or _codes_differ(a, b)
    )


def _marks(key: str, other: str, both_han: bool) -> _Marks:
    key, other = _prepared(key, both_han), _prepared(other, both_han)
    words, theirs = _WORD.findall(key), _WORD.findall(other)
    shared = Counter(words) & Counter(theirs)
    left = _without(words, shared)
    rest = {w for w in _without(theirs, shared) if len(w) > 1}
    numbers: Counter[str] = Counter(w for w in words if w.isdigit())
    letters: set[str] = set()
    initials: set[str] = set()
    for match in _LETTER_CODE.finditer(key):
        letter = match[1]
        # "v2" is "2"; "F1" is "Formula 1".
        if letter not in "vr" and not any(w.startswith(letter) for w in rest):
            letters.add(letter)
    plain = _LETTER_CODE.sub(" ", key)
    tokens = re.findall(r"[^\W_]+\.?", plain)
    for place, token in enumerate(tokens):
        word, last = token.rstrip("."), place == len(tokens) - 1
        if re.fullmatch(r"\d+[a-z]", word):
            letters.add(word[-1])
            continue
        if word not in left:
            continue
        if _is_roman(word, place, tokens):
            numbers[str(_roman(word))] += 1
        elif len(word) == 1 and "a" <= word <= "z":
            before = tokens[place - 1].rstrip(".") if place else ""
            if before in DESIGNATED or (last and not token.endswith(".")):
                letters.add(word)
            elif word not in PLAIN_LETTERS or token.endswith("."):
                initials.add(word)
    return _Marks(
        numbers=numbers,
        words=Counter(NUMBER_WORDS[w] for w in left if w in NUMBER_WORDS),
        letters=frozenset(letters),
        initials=frozenset(i for i in initials if not any(w.startswith(i) for w in rest)),
        calendar=frozenset(MONTHS_AND_DAYS[w] for w in left if w in MONTHS_AND_DAYS),
        generation=frozenset(GENERATIONS[w] for w in left if w in GENERATIONS),
        compass=frozenset(COMPASS[w] for w in left if w in COMPASS),
    )


def _prepared(key: str, both_han: bool) -> str:
    text = "".join(_digit(c) for c in key)
    text = _GROUPED.sub(lambda m: m[0].replace(",", ""), text)
    text = _ABBREVIATION.sub(lambda m: m[1].replace(".", ""), text)
    text = _JOINED_LETTER.sub("", text)
    # A translation has the numeral of a name in words of its own, so it counts between Chinese names only.
    return _HAN_NUMBER.sub(lambda m: f" {_han_value(m[1] or m[2])} ", text) if both_han else text


def _digit(character: str) -> str:
    return str(unicodedata.decimal(character)) if character.isdecimal() else character


def _without(words: list[str], shared: Counter[str]) -> list[str]:
    left = Counter(words) - shared
    return list(left.elements())


def _numbers_agree(a: _Marks, b: _Marks) -> bool:
    if a.numbers == b.numbers:
        return not (a.words and b.words) or a.words == b.words
    return a.numbers + a.words == b.numbers + b.words


def _initials_differ(a: _Marks, b: _Marks) -> bool:
    return not (a.initials <= b.initials or b.initials <= a.initials)


def _both_and_differ(a: frozenset[str], b: frozenset[str]) -> bool:
    return bool(a) and bool(b) and a != b


def _opposite_characters(a: str, b: str) -> bool:
    """Chinese names of one length that differ in one place, where both characters are of one set of opposites."""
    if len(a) != len(b):
        return False
    places = [
        (x, y) for x, y in zip(a.translate(HAN_VARIANTS), b.translate(HAN_VARIANTS), strict=True) if x != y
    ]
    return len(places) == 1 and any(set(places[0]) <= family for family in HAN_OPPOSITES)


def _codes_differ(a: str, b: str) -> bool:
    """Both names are codes, such as "eu-west-1" and "us-west-1": then every letter counts."""
    if not (_CODE.fullmatch(a) and _CODE.fullmatch(b)) or not (_has_digit(a) and _has_digit(b)):
        return False
    return re.sub(r"[\W_]", "", a) != re.sub(r"[\W_]", "", b)


def _has_digit(text: str) -> bool:
    return any(c.isdecimal() for c in text)


def _is_roman(word: str, place: int, tokens: list[str]) -> bool:
    """Roman numerals up to 39, not as the first word: "Xi" and "Vi" are names there. A lone letter is one only when it
    is the last word ("Henry V") or follows a word that is numbered ("Part I of")."""
    if place == 0 or not word or not _ROMAN.fullmatch(word):
        return False
    return len(word) > 1 or place == len(tokens) - 1 or tokens[place - 1] in DESIGNATED


def _roman(word: str) -> int:
    values = [_ROMAN_VALUES[c] for c in word]
    return sum(-v if v < after else v for v, after in zip(values, [*values[1:], 0], strict=True))


def _han_value(numeral: str) -> int:
    """The value of a Chinese numeral, by units ("二十三") or by digits ("二〇二三")."""
    if not any(c in HAN_UNITS for c in numeral):
        return int("".join(str(HAN_DIGITS[c]) for c in numeral))
    total, digit = 0, 0
    for character in numeral:
        if character in HAN_UNITS:
            total += (digit or 1) * HAN_UNITS[character]
            digit = 0
        else:
            digit = HAN_DIGITS[character]
    return total + digit
