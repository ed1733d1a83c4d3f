import doctest
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pipeline.timeline.dates import resolve

PAGE = Path(__file__).resolve().parents[3] / "docs" / "dates.md"
REFERENCE = datetime(2024, 5, 15, 12, 30, tzinfo=UTC)


def examples() -> Iterator[tuple[str, str, str, str]]:
    """(language, expression, "start, end", role) of each cell in the table of what is covered."""
    table = PAGE.read_text(encoding="utf-8").partition("## What is covered")[2].partition("## The rules")[0]
    for row in table.splitlines():
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        if len(cells) != 6 or cells[0] in ("kind", "---"):
            continue
        for language, cell in zip(("en", "es", "zh"), cells[1:4], strict=True):
            for expression in filter(None, cell.split(" / ")):
                yield language, expression, cells[4], cells[5]


@pytest.mark.parametrize(("language", "expression", "days", "role"), list(examples()))
@pytest.mark.parametrize("told", [True, False])
def test_the_table_holds(language: str, expression: str, days: str, role: str, told: bool) -> None:
    (span,) = resolve(expression, REFERENCE, language if told else None)
    got = [end.date().isoformat() if end else "none" for end in (span.start, span.end)]
    assert (", ".join(got), span.role) == (days, role)


def test_the_table_is_found() -> None:
    assert len(list(examples())) > 50


def test_the_code_of_the_page_runs() -> None:
    code = PAGE.read_text(encoding="utf-8").partition("```python")[2].partition("```")[0]
    page = doctest.DocTestParser().get_doctest(code, {}, "dates.md", str(PAGE), 0)
    outcome = doctest.DocTestRunner().run(page)
    assert outcome.attempted > 4
    assert outcome.failed == 0
