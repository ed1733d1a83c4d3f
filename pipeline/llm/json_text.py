"""Finds the JSON in what a model said, and reads it even when it is slightly wrong or cut off. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 60
MAX_CANDIDATES = 200

_THOUGHTS = re.compile(r"\s*<(think|thinking|thought|reasoning|reflection)>", re.I)
_THOUGHTS_END = re.compile(r"</(?:think|thinking|thought|reasoning|reflection)>", re.I)
_STARTS_WITH_JSON = re.compile(r"\s*(?:```|\{|\[)")
_GAP = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)+", re.S)
_WORD = re.compile(r"[A-Za-z_$][\w$-]*")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+)")
_WORDS = {"true": True, "false": False, "null": None, "none": None, "nan": None, "undefined": None}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_QUOTES = {'"': '"', "'": "'", "“": "”"}


@dataclass(frozen=True)
class FoundJson:
    """A JSON value. When `complete` is False the text broke off; `value` holds what was finished by then."""

    value: Any
    complete: bool


class _NotJson(Exception):
    pass


class _Cut:
    """Stands for a value that the end of the text has cut so that nothing of it can be kept."""


_CUT = _Cut()


def find_json(text: str) -> FoundJson:
    """The longest JSON object or list in a text.

    Thoughts before it, code fences and prose around it are passed over. Comments, trailing and missing commas, single
    quotes, unquoted keys, Python's constants, raw line breaks and unescaped quotes inside strings are understood. Of
    a text that breaks off, complete members and list items are kept; a record in a list that is cut is not.

    Raises ValueError with a reason that can be shown to the model.
    """
    text = _without_thoughts(text.lstrip("\ufeff"))
    best: FoundJson | None = None
    longest = position = 0
    for _ in range(MAX_CANDIDATES):
        starts = [i for i in (text.find("{", position), text.find("[", position)) if i >= 0]
        if not starts:
            break
        start = min(starts)
        try:
            found, end = _read_at(text, start)
        except (_NotJson, RecursionError):
            position = start + 1
            continue
        if end - start > longest:
            best, longest = found, end - start
        position = end
    if best is None:
        raise ValueError("there is no JSON object in the answer" if text.strip() else "the answer is empty")
    return best


def _without_thoughts(text: str) -> str:
    if _STARTS_WITH_JSON.match(text):
        return text
    end = _THOUGHTS_END.search(text)
    if end:
        return text[end.end() :]
    if _THOUGHTS.match(text):
        raise ValueError("the answer holds thoughts only and no JSON after them")
    return text


def _read_at(text: str, start: int) -> tuple[FoundJson, int]:
    try:
        value, end = json.JSONDecoder(parse_constant=lambda _: None).raw_decode(text, start)
        return FoundJson(value, True), end
    except ValueError:
        reader = _Reader(text, start)
        value, complete = reader.value(0)
        return FoundJson(value, complete), reader.at


class _Reader:
    """A forgiving recursive descent over one value. Each method answers (value, whether it was finished)."""

    def __init__(self, text: str, at: int) -> None:
        self.text = text
        self.at = at

    def value(self, depth: int) -> tuple[Any, bool]:
        if depth > MAX_DEPTH:
            raise _NotJson
        char = self._next()
        if char == "{":
            return self._object(depth)
        if char == "[":
            return self._list(depth)
        if char in _QUOTES:
            return self._string(_QUOTES[char])
        return self._scalar()

    def _object(self, depth: int) -> tuple[Any, bool]:
        self.at += 1
        members: dict[str, Any] = {}
        while True:
            char = self._next()
            if char == "}":
                self.at += 1
                return members, True
            if char == ",":
                self.at += 1
                continue
            key, whole = self._key(char)
            if not whole or not self._next():
                return members, False
            if self._next() != ":":
                raise _NotJson
            self.at += 1
            value, whole = self.value(depth + 1)
            if whole or not isinstance(value, _Cut):
                members[key] = value
            if not whole:
                return members, False

    def _list(self, depth: int) -> tuple[Any, bool]:
        self.at += 1
        items: list[Any] = []
        while True:
            char = self._next()
            if char == "]":
                self.at += 1
                return items, True
            if char == ",":
                self.at += 1
                continue
            value, whole = self.value(depth + 1)
            if not whole:
                return items, False
            items.append(value)

    def _key(self, char: str) -> tuple[str, bool]:
        if char in _QUOTES:
            value, whole = self._string(_QUOTES[char])
            return ("", False) if isinstance(value, _Cut) else (value, whole)
        word = _WORD.match(self.text, self.at)
        if word is None:
            if char:
                raise _NotJson
            return "", False
        self.at = word.end()
        return word.group(), True

    def _string(self, quote: str) -> tuple[Any, bool]:
        self.at += 1
        made: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == "\\":
                escaped = self._escape()
                if escaped is None:
                    return _CUT, False
                made.append(escaped)
            elif char == quote and self._closes():
                return "".join(made), True
            else:
                made.append(char)
        return _CUT, False

    def _closes(self) -> bool:
        """A quote ends a string when what follows can follow a string; else it belongs to the text."""
        gap = _GAP.match(self.text, self.at)
        rest = self.text[gap.end() if gap else self.at :][:1]
        return rest in ("", ",", "}", "]", ":", '"', "'")

    def _escape(self) -> str | None:
        if self.at >= len(self.text):
            return None
        char = self.text[self.at]
        self.at += 1
        if char != "u":
            return _ESCAPES.get(char, char)
        digits = self.text[self.at : self.at + 4]
        if len(digits) < 4:
            self.at = len(self.text)
            return None
        self.at += 4
        try:
            return chr(int(digits, 16)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
        except ValueError:
            return ""

    def _scalar(self) -> tuple[Any, bool]:
        number = _NUMBER.match(self.text, self.at)
        word = None if number else _WORD.match(self.text, self.at)
        token = number or word
        if token is None:
            if self.at >= len(self.text):
                return _CUT, False
            raise _NotJson
        self.at = token.end()
        if self.at >= len(self.text):
            return _CUT, False
        if word:
            if word.group().lower() not in _WORDS:
                raise _NotJson
            return _WORDS[word.group().lower()], True
        digits = token.group()
        return (int(digits) if re.fullmatch(r"[-+]?\d{1,18}", digits) else float(digits)), True

    def _next(self) -> str:
        gap = _GAP.match(self.text, self.at)
        if gap:
            self.at = gap.end()
        return self.text[self.at : self.at + 1]
