"""The tables of docs/truth.md say what the code does."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.model.extraction import Cardinality, StatementKind
from pipeline.stages.name_marks import tell_apart
from pipeline.timeline.evidence import Evidence
from pipeline.timeline.slot import Segment, timeline

PAGE = (Path(__file__).parents[3] / "docs" / "truth.md").read_text("utf-8")
_DAY = r"\d{4}-\d\d-\d\d"
_ASSERTS = re.compile(rf"({_DAY}): (\w+)(?: since ({_DAY}))?(?: until ({_DAY}))?, (one|many)")
_CLOSES = re.compile(rf"({_DAY}): (\w+) ended ({_DAY}) (\w+)")


def rows(header: str) -> list[list[str]]:
    """The cells of the table that begins with a header."""
    lines = PAGE[PAGE.index(header) :].splitlines()
    body = lines[2 : next(i for i, line in enumerate(lines) if not line.startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in body]


def day(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=UTC) if text else None


def evidence(number: int, text: str) -> Evidence:
    """A statement as the table writes it."""
    if found := _CLOSES.fullmatch(text):
        said, value, end, rule = found.groups()
        start, cardinality, kind = None, "many", StatementKind.closes
    elif found := _ASSERTS.fullmatch(text):
        said, value, start, end, cardinality = found.groups()
        rule, kind = "statement", StatementKind.asserts
    else:
        raise AssertionError(f"not a statement: {text}")
    return Evidence(
        id=str(number),
        episode_id=f"e{number}",
        subject="ana",
        relation="R",
        object=value,
        kind=kind,
        cardinality=Cardinality(cardinality),
        valid_at=day(start),
        invalid_at=day(end),
        reference_time=day(said),
        sequence=number,
        rule=rule,
        recorded_at=day(said),
    )


def written(segment: Segment) -> str:
    start = segment.valid_at.strftime("%Y-%m-%d") if segment.valid_at else "unknown"
    if segment.invalid_at is None:
        return f"{segment.object} {start} to open"
    return f"{segment.object} {start} to {segment.invalid_at:%Y-%m-%d} {segment.rule}"


SLOTS = rows("| case | said |")
NAMES = rows("| two things, whatever a judge says |")


def test_the_tables_are_found() -> None:
    assert len(SLOTS) >= 14
    assert len(NAMES) >= 9


@pytest.mark.parametrize(("said", "holds"), [row[1:] for row in SLOTS], ids=[row[0] for row in SLOTS])
def test_what_holds(said: str, holds: str) -> None:
    told = [evidence(number, text) for number, text in enumerate(said.split("<br>"))]
    assert [written(s) for s in timeline(told)] == holds.split("<br>")
    assert timeline(told[::-1]) == timeline(told)


@pytest.mark.parametrize(("apart", "asked"), NAMES)
def test_names(apart: str, asked: str) -> None:
    assert tell_apart(*apart.split(" / "))
    assert not tell_apart(*asked.split(" / "))
