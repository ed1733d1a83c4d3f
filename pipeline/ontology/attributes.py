"""Checks the value of an attribute against its type. Pure.

A model likes to hand back the schema instead of a value ("string", "The phone number of the person"), or a sentence
where a number was asked for. What does not fit is refused, never cut to size.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from pipeline.ontology.model import AttributeKind, AttributeType
from pipeline.text.words import word_set
from pipeline.timeline.partial import parse_partial

_EMPTY = frozenset(
    {"", "null", "none", "n/a", "na", "unknown", "not specified", "not mentioned", "-", "desconocido", "未知"}
)
_SCHEMA_WORDS = word_set(
    """
    string str text integer int number float boolean bool date array object list dict any
    """
)
_EMAIL = re.compile(r"[^\s@,;:<>()]+@[^\s@,;:<>()]+\.[^\s@,;:<>().]{2,}")
_PHONE = re.compile(r"\+?[\d\s().\-/]{5,30}(?:\s*(?:x|ext\.?)\s*\d{1,6})?", re.I)
_URL = re.compile(r"https?://[^\s<>\"]+", re.I)
_TRUE = frozenset({"true", "yes", "sí", "si", "是", "1"})
_FALSE = frozenset({"false", "no", "否", "0"})
MAX_DEPTH = 6


def checked(value: Any, kind: AttributeType) -> Any:
    """The value in its type ("42" becomes 42 for a number). Raises ValueError, saying why, when it does not fit."""
    if value is None or (isinstance(value, str) and value.strip().casefold() in _EMPTY):
        raise ValueError("is empty")
    if _is_echo(value, kind):
        raise ValueError("repeats the schema instead of giving a value")
    made = _CHECKS.get(kind.kind, _any)(value)
    if isinstance(made, (str, list)) and len(made) > kind.max_length:
        raise ValueError(f"is {len(made)} long; at most {kind.max_length} is allowed")
    if kind.choices:
        same = [c for c in kind.choices if c.casefold() == str(made).casefold()]
        if not same:
            raise ValueError(f"is none of {', '.join(kind.choices)}")
        return same[0]
    return made


def _is_echo(value: Any, kind: AttributeType) -> bool:
    if isinstance(value, Mapping):
        keys = {str(key).lower() for key in value}
        return bool({"$ref", "anyof", "$defs"} & keys) or {"type", "description"} <= keys or keys == {"type"}
    if not isinstance(value, str):
        return False
    text = value.strip().casefold()
    described = kind.description.strip().casefold()
    return text in _SCHEMA_WORDS - set(kind.choices) or (
        len(described) > 3 and text.rstrip(".") == described.rstrip(".")
    )


def _text(value: Any) -> str:
    if isinstance(value, (Mapping, list)):
        raise ValueError("must be text")
    return str(value).strip()


def _number(value: Any) -> float | int:
    if isinstance(value, bool):
        raise ValueError("must be a number")
    if isinstance(value, str):
        try:
            value = float(value.replace(",", "").replace(" ", ""))
        except ValueError:
            raise ValueError("must be a number") from None
    if not isinstance(value, (int, float)) or not math.isfinite(value):
        raise ValueError("must be a number")
    return int(value) if float(value).is_integer() and abs(value) < 2**53 else value


def _integer(value: Any) -> int:
    number = _number(value)
    if not isinstance(number, int):
        raise ValueError("must be a whole number")
    return number


def _boolean(value: Any) -> bool:
    text = str(value).strip().casefold()
    if text not in _TRUE | _FALSE:
        raise ValueError("must be true or false")
    return text in _TRUE


def _date(value: Any) -> str:
    text = _text(value)
    parse_partial(text)
    return text


def _matching(pattern: re.Pattern[str], what: str, value: Any) -> str:
    text = _text(value)
    if not pattern.fullmatch(text):
        raise ValueError(f"is not {what}")
    return text


def _list(value: Any) -> list[Any]:
    if isinstance(value, str):
        return [part.strip() for part in re.split(r"[,;、，；]", value) if part.strip()]
    if not isinstance(value, list):
        raise ValueError("must be a list")
    return [_any(item) for item in value]


def _any(value: Any, depth: int = 0) -> Any:
    if depth > MAX_DEPTH:
        raise ValueError(f"is nested deeper than {MAX_DEPTH} levels")
    if isinstance(value, Mapping):
        return {str(key): _any(item, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        return [_any(item, depth + 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be finite")
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    raise ValueError("must be a JSON value")


_CHECKS: Mapping[AttributeKind, Any] = {
    AttributeKind.text: _text,
    AttributeKind.number: _number,
    AttributeKind.integer: _integer,
    AttributeKind.boolean: _boolean,
    AttributeKind.date: _date,
    AttributeKind.email: lambda value: _matching(_EMAIL, "an e-mail address", value),
    AttributeKind.phone: lambda value: _matching(_PHONE, "a telephone number", value),
    AttributeKind.url: lambda value: _matching(_URL, "a web address", value),
    AttributeKind.list: _list,
    AttributeKind.any: _any,
}
