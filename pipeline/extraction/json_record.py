"""JSON records by rule: keys become relations, names become entities, all other values attributes."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pipeline.extraction import record_keys as keys
from pipeline.extraction.collected import Collected
from pipeline.model.episode import Episode
from pipeline.model.extraction import Cardinality, Extraction, Statement
from pipeline.timeline.partial import parse_partial
from pipeline.timeline.precision import Precision

MAX_DEPTH = 12
MAX_NAME = 80
_ORGANIZATION = re.compile(
    r"\b(?:ltd|limited|inc|corp|corporation|llc|llp|plc|gmbh|ag|co|company|s\.?l|s\.?a|group|bank|university)\.?$"
    r"|(?:公司|集团|银行|大学)$",
    re.I,
)
_NO_NAME = re.compile(r"@|://|^\W*$|^[\d\s().+:/TZ-]+$|[{}<>\n\t]")
_HAN = re.compile(r"[\u3400-\u9fff]")
_Bounds = tuple[datetime | None, Precision | None, datetime | None, Precision | None]


class JsonRecordReader:
    """Reads JSON episodes without a model.

    A record's main entity is named by its `name`, or by the key that says what it is about (`customer`, `product`,
    …). Names under other keys are entities, joined to the main one by a relation with the key's name; numbers, flags
    and free texts are attributes of the main entity. A nested record with a name is an entity of its own; one
    without is part of its parent. Records deeper than `MAX_DEPTH` levels are left out.
    """

    def read(self, episode: Episode) -> Extraction:
        """Mentions and statements of the record, or of every record of a list. Takes any JSON, raises nothing."""
        collected = Collected()
        self._value(episode, collected, episode.content, 0)
        return collected.result()

    def _value(self, episode: Episode, out: Collected, value: Any, depth: int) -> None:
        if depth > MAX_DEPTH:
            return
        if isinstance(value, Mapping):
            self._record(episode, out, value, None, depth)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            for item in value:
                self._value(episode, out, item, depth + 1)

    def _record(
        self, episode: Episode, out: Collected, record: Mapping[str, Any], kind: str | None, depth: int
    ) -> int | None:
        main_key = _main_key(record)
        if main_key is None:
            for value in record.values():
                self._value(episode, out, value, depth + 1)
            return None
        name = str(record[main_key]).strip()
        own = kind if keys.snake(main_key) in keys.NAME_KEYS else keys.type_of(main_key)
        kind_key = next((record[k] for k in ("type", "kind") if isinstance(record.get(k), str)), "")
        main = out.mention(name, _type(name, own or keys.type_of(kind_key)))
        if main is not None:
            rest = {key: value for key, value in record.items() if key != main_key}
            self._fields(episode, out, main, name, rest, _bounds(episode, record), "", depth)
        return main

    def _fields(
        self,
        episode: Episode,
        out: Collected,
        main: int,
        name: str,
        fields: Mapping[str, Any],
        bounds: _Bounds,
        prefix: str,
        depth: int,
    ) -> None:
        for key, value in fields.items():
            path = f"{prefix}_{key}" if prefix else key
            many = isinstance(value, Sequence) and not isinstance(value, str)
            for item in value if many else [value]:
                target = None
                if isinstance(item, Mapping) and depth < MAX_DEPTH:
                    target = (
                        self._record(episode, out, item, keys.type_of(key), depth + 1)
                        if _main_key(item)
                        else None
                    )
                    if target is None:
                        self._fields(episode, out, main, name, item, bounds, path, depth + 1)
                        continue
                elif isinstance(item, str) and _is_name(item, key):
                    target = out.mention(item.strip(), _type(item.strip(), keys.type_of(key)))
                elif not isinstance(item, (Mapping, list)) and item is not None and not many:
                    out.mention(name, None, {path: item})
                if target is not None:
                    one = Cardinality.one if keys.single(key) and not many else Cardinality.many
                    out.state(_statement(main, path, target, name, _shown(item), bounds, one))
                elif many and depth < MAX_DEPTH and isinstance(item, list):
                    self._value(episode, out, item, depth + 1)


def _main_key(record: Mapping[str, Any]) -> str | None:
    by_snake = {keys.snake(key): key for key in reversed(list(record))}
    for wanted in (*keys.NAME_KEYS, *keys.MAIN_KEYS):
        key = by_snake.get(wanted)
        if key is not None and isinstance(record[key], str) and _is_name(record[key], key):
            return key
    return None


def _is_name(value: str, key: str) -> bool:
    text = value.strip()
    if not text or len(text) > MAX_NAME or _NO_NAME.search(text) or len(text.split()) > 8:
        return False
    if keys.type_of(key) is not None or keys.snake(key) in keys.NAME_KEYS:
        return True
    return bool(_HAN.search(text)) if not text.isascii() and len(text) <= 12 else text[0].isupper()


def _type(name: str, kind: str | None) -> str | None:
    return "Organization" if _ORGANIZATION.search(name) and kind not in ("Place", "Product") else kind


def _shown(item: Any) -> str:
    if isinstance(item, Mapping):
        main = _main_key(item)
        return str(item[main]).strip() if main else ""
    return str(item).strip()


def _bounds(episode: Episode, record: Mapping[str, Any]) -> _Bounds:
    start = _time(record, keys.FROM_KEYS) or (episode.reference_time, Precision.second)
    end = _time(record, keys.TO_KEYS)
    if end is None:
        return (*start, None, None)
    if start[0] < end[0]:
        return (*start, *end)
    return (None, None, *end)


def _time(record: Mapping[str, Any], names: frozenset[str]) -> tuple[datetime, Precision] | None:
    for key, value in record.items():
        if keys.snake(key) in names and isinstance(value, str):
            try:
                return parse_partial(value)
            except ValueError:
                continue
    return None


def _statement(
    main: int, key: str, target: int, name: str, value: str, bounds: _Bounds, cardinality: Cardinality
) -> Statement:
    label = " ".join(keys.words(key))
    sentence = f"{name}的{label}是{value}" if _HAN.search(label) else f"The {label} of {name} is {value}"
    return Statement(
        subject=main,
        relation=keys.relation(key),
        object=target,
        fact=sentence,
        valid_at=bounds[0],
        valid_at_precision=bounds[1],
        invalid_at=bounds[2],
        invalid_at_precision=bounds[3],
        cardinality=cardinality,
    )
