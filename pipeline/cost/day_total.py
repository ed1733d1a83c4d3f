"""What a group has cost on one day, as a store keeps it beside the group."""

from __future__ import annotations

from datetime import UTC, date, datetime

from pydantic import BaseModel, ConfigDict

from pipeline.model.episode import Usage


class DayTotal(BaseModel):
    """The newest day (UTC) on which the group has cost anything, and how much."""

    model_config = ConfigDict(frozen=True)

    day: date | None = None
    usage: Usage = Usage()

    @classmethod
    def read(cls, stored: str | None) -> DayTotal:
        """From the text that a store keeps; None: nothing so far."""
        return cls() if stored is None else cls.model_validate_json(stored)

    def plus(self, usage: Usage, at: datetime | None) -> DayTotal:
        """With one more commit. A commit of an older day (a clock that is behind) or of none counts nowhere."""
        if at is None:
            return self
        day = at.astimezone(UTC).date()
        if self.day is not None and day < self.day:
            return self
        return DayTotal(day=day, usage=self.usage + usage if day == self.day else usage)

    def on(self, day: date) -> Usage:
        """What was spent on a day."""
        return self.usage if day == self.day else Usage()
