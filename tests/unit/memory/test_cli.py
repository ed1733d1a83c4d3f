"""The commands that work on graph files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from factstream.cli import digest, transfer, up
from factstream.memory import SyncMemory
from pipeline.embedding.hashing import HashingEmbedder
from tests.unit.memory.events import works_at

app = typer.Typer()
app.command("up")(up.up)
app.command("export")(transfer.export)
app.command("import")(transfer.import_)
app.command("digest")(digest.digest)


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch) -> CliRunner:
    monkeypatch.setenv("FACTSTREAM_EMBEDDER", "hashing")
    return CliRunner()


def test_export_and_import_tell_what_they_did(runner: CliRunner, file: Path, tmp_path: Path) -> None:
    with SyncMemory(file, embedder=HashingEmbedder()) as memory:
        memory.add_many([works_at(n, group=f"g{n % 2}") for n in range(6)])
    out, other = str(tmp_path / "out.jsonl"), str(tmp_path / "other.db")
    done = runner.invoke(app, ["export", out, "--events", "--group", "g1", "--graph", str(file)])
    assert (done.exit_code, done.stdout) == (0, f"3 episodes in {out}\n")
    assert [json.loads(line)["id"] for line in Path(out).read_text().splitlines()] == ["e1", "e3", "e5"]
    done = runner.invoke(app, ["import", out, "--graph", other])
    assert (done.exit_code, done.stdout) == (0, "3 committed\n")
    done = runner.invoke(app, ["export", out, "--events", "--all", "--graph", other])
    assert done.exit_code == 1
    assert "there already" in done.output


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["export", "x.jsonl"], "--all"),
        (["export", "x.jsonl", "--all", "-g", "g"], "--all"),
        (["export", "x.jsonl", "--all", "--graph", "none.db"], "no graph file"),
        (["import", "none.jsonl", "--graph", "x.db"], "cannot be read"),
        (["up", "--file", "x.db"], "--embedded"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_line(
    runner: CliRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = runner.invoke(app, command)
    assert done.exit_code in (1, 2)
    assert told in done.output
    assert "Traceback" not in done.output


def test_an_archive_goes_through_the_commands(runner: CliRunner, file: Path, tmp_path: Path) -> None:
    with SyncMemory(file, embedder=HashingEmbedder()) as memory:
        memory.add_many([works_at(n, group=f"g{n % 2}") for n in range(6)])
    out, other, copy = (str(tmp_path / name) for name in ("out.jsonl", "other.db", "copy.db"))
    done = runner.invoke(app, ["export", out, "--all", "--graph", str(file)])
    assert done.exit_code == 0
    assert done.stdout.startswith("2 groups, ")
    done = runner.invoke(app, ["import", out, "--graph", other])
    assert done.exit_code == 0
    assert "2 groups: 6 episode" in done.stdout
    done = runner.invoke(app, ["export", copy, "--graph", other])
    assert done.exit_code == 0
    told = [runner.invoke(app, ["digest", "-g", "g1", "--graph", g]).stdout for g in (str(file), other, copy)]
    assert len(set(told)) == 1
    assert len(told[0]) == 65
    for command, message in (
        (["export", str(tmp_path / "x"), "-g", "none", "--graph", other], "no group 'none'"),
        (["export", str(tmp_path / "x.db"), "-g", "g1", "--graph", other], "whole --graph"),
        (["import", out, "--graph", other[:-3] + "-none/x.db"], "folder"),
    ):
        done = runner.invoke(app, command)
        assert done.exit_code in (1, 2)
        assert message in done.output
