"""The programs of docs/embedded.md run as they stand there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "embedded.md"
PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize(("program", "told"), [(0, "Valencia"), (1, "Ana works at Acme")])
def test_a_program_of_the_page_prints_what_it_promises(
    program: int,
    told: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTSTREAM_EMBEDDER", "hashing")
    exec(compile(PROGRAMS[program], str(PAGE), "exec"), {"__name__": "__main__"})
    assert told in capsys.readouterr().out
