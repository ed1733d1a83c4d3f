"""Property values of Neo4j, as odd as they may be, to times, names and JSON. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any

from neo4j.time import Date, DateTime

from factstream.graphiti.report import Report
from pipeline.model.moments import as_utc
from pipeline.timeline.partial import parse_partial


def moment(value: Any, report: Report, of: object) -> datetime | None:
    """A time of whatever type; None when there is none, or none that can be read, which is reported."""
    if value is None or value == "":
        return None
    try:
        found = _read(value)
    except (ValueError, TypeError, OverflowError, OSError):
        report.note("lost_time", f"{of}: {value}")
        return None
    if found.tzinfo is None:
        report.note("times_naive", of)
    return as_utc(found)


def _read(value: Any) -> datetime:
    if isinstance(value, DateTime):
        return value.to_native()
    if isinstance(value, datetime):
        return value
    if isinstance(value, Date):
        value = value.to_native()
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day)
    if isinstance(value, str):
        try:
            return datetime.fromisoformat(value)
        except ValueError:
            return parse_partial(value)[0]
    raise TypeError(f"{type(value).__name__} is no time")


def text(value: Any) -> str:
    """A property as text; empty when it is missing."""
    return "" if value is None else value if isinstance(value, str) else str(value)


def attributes(props: Mapping[str, Any], known: frozenset[str], report: Report, of: object) -> dict[str, Any]:
    """The properties that have no meaning of their own, as JSON knows them."""
    return {
        name: _json(value, report, f"{of}: {name}")
        for name, value in sorted(props.items())
        if name not in known and value is not None
    }


def _json(value: Any, report: Report, of: str) -> Any:
    if isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, Mapping):
        return {str(k): _json(v, report, of) for k, v in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [_json(v, report, of) for v in value]
    if isinstance(value, DateTime | Date | datetime | date):
        native = value.to_native() if isinstance(value, DateTime | Date) else value
        return native.isoformat()
    report.note("values_as_text", of)
    return str(value)


def content(value: Any, source: str) -> Any:
    """The content of an episode; that of a JSON one decoded, where it can be."""
    told = text(value)
    if source != "json":
        return told
    try:
        return json.loads(told)
    except (ValueError, RecursionError):
        return told
