"""Why an event goes to the dead letters."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.errors import Poison


@dataclass(frozen=True, slots=True)
class Failure:
    """The last error of an event that is given up: in which stage and phase, after how many attempts."""

    stage: str
    phase: str
    attempts: int
    error: Exception

    @property
    def reason(self) -> str:
        """For people: a Poison's own words, or the error's type and text."""
        return reason_of(self.error)

    @property
    def field(self) -> str:
        """The path of the field at fault, or empty."""
        return self.error.field if isinstance(self.error, Poison) else ""


def reason_of(error: Exception) -> str:
    """An error for people: a Poison's own words, or its type and text."""
    return str(error) if isinstance(error, Poison) else f"{type(error).__name__}: {error}"
