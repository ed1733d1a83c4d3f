"""Errors as endpoints tell them, in whatever place of their JSON. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MESSAGE = 300


@dataclass(frozen=True)
class Trouble:
    """An error inside an answer of status 200; `status` is the HTTP status that it stands for, when it tells one."""

    status: int | None


def trouble_in(decoded: Any) -> Trouble | None:
    """The error in a body that was sent as a success: beside the choices, or in place of the first one's message."""
    if not isinstance(decoded, dict):
        return None
    error = decoded.get("error")
    if not error and decoded.get("object") == "error":
        error = decoded
    if not error:
        choices = decoded.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        error = first.get("error") if isinstance(first, dict) else None
    return Trouble(_status(error)) if error else None


def message_of(decoded: Any, text: str) -> str:
    """What the endpoint says is wrong: OpenAI's and Gemini's error objects, or the body itself, shortened."""
    if isinstance(decoded, list) and decoded:
        decoded = decoded[0]
    error = decoded
    if isinstance(decoded, dict):
        choices = decoded.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else None
        inner = first.get("error") if isinstance(first, dict) else None
        error = decoded.get("error") or inner or decoded
    if isinstance(error, dict):
        told = [str(error[key]) for key in ("code", "param", "message", "detail") if error.get(key)]
        error = " ".join(told) or str(error)
    elif error is None:
        error = text
    return " ".join(str(error).split())[:MESSAGE]


def _status(error: Any) -> int | None:
    if not isinstance(error, dict):
        return None
    for told in (error.get("code"), error.get("status")):
        number = int(told) if isinstance(told, str) and told.isascii() and told.isdigit() else told
        if isinstance(number, int) and 400 <= number <= 599:
            return number
    return None
