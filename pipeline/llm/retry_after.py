"""How long an endpoint asks us to wait. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_TOLD = re.compile(
    r'"retryDelay"\s*:\s*"(?P<delay>\d+(?:\.\d+)?)s"|'
    r"(?:try again|retry) (?:in|after) (?:(?P<minutes>\d+)m)?(?P<amount>\d+(?:\.\d+)?) ?(?P<unit>ms|s\b|sec)",
    re.I,
)
LOOKED_AT = 10_000


def told_wait(body: str) -> float | None:
    """Seconds to wait as a refusal tells them in its body: Gemini's `retryDelay`, "try again in 7.6s"; None without."""
    found = _TOLD.search(body[:LOOKED_AT])
    if found is None:
        return None
    if found["delay"]:
        return float(found["delay"])
    seconds = float(found["amount"]) / (1000 if found["unit"].lower() == "ms" else 1)
    return seconds + 60 * int(found["minutes"] or 0)


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds to wait by `Retry-After` (seconds or an HTTP date, RFC 9110) or `retry-after-ms`; None when not said."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after")
    seconds = _number(value)
    if seconds is not None or value is None:
        return seconds
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (aware - now).total_seconds())


def _number(value: str | None) -> float | None:
    try:
        number = float(value) if value is not None else None
    except ValueError:
        return None
    return number if number is not None and 0 <= number < float("inf") else None
