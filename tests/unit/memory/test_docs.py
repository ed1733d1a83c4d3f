"""The programs of docs/embedded.md and of the README run as they stand there, in scripts and in notebooks."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[3] / "docs" / "embedded.md"
README = Path(__file__).parents[3] / "README.md"
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


async def run_cell(program: str, names: dict[str, object]) -> None:
    """As a notebook runs a cell: inside a loop that runs already, with await at the top level."""
    code = compile(program, "cell", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)
    if waiting is not None:
        await waiting


async def test_the_snippets_run_in_a_notebook(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FACTSTREAM_EMBEDDER", "hashing")
    (snippet,) = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    await run_cell(snippet, names)
    await run_cell("print(answer.facts[0].fact, answer.facts[0].target.name)", names)
    assert "Leeds" in capsys.readouterr().out
    # The synchronous twin, left open from cell to cell.
    await run_cell("from factstream import SyncMemory\nsync = SyncMemory('notebook.db')\nsync.open()", names)
    await run_cell(
        "sync.add({'group_id': 'acme', 'source': 'text', 'content': 'Ana works at Acme.'})\n"
        "print([f.fact for f in sync.facts('acme', 'Ana')])\nsync.close()",
        names,
    )
    assert "Ana works at Acme" in capsys.readouterr().out
