"""The command line: help that is there, errors on one line, exit codes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from factstream.cli.main import app

GOOD = {"id": "e1", "group_id": "g", "source": "text", "content": "Ana works at Acme."}
run = CliRunner().invoke


def commands() -> list[str]:
    return [c.name or c.callback.__name__ for c in app.registered_commands if c.callback] + [
        str(g.name or (g.typer_instance and g.typer_instance.info.name)) for g in app.registered_groups
    ]


@pytest.mark.parametrize("command", commands())
def test_every_command_explains_itself(command: str) -> None:
    shown = run(app, [command.replace("_", "-"), "--help"])
    assert shown.exit_code == 0, shown.output
    assert "Usage" in shown.output


def test_publish_checks_the_whole_file_before_it_sends(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    bad = {**GOOD, "colour": "red"}
    file.write_text("\n".join([json.dumps(GOOD), json.dumps(bad), "", "{"]), "utf-8")
    done = run(app, ["publish", str(file)])
    assert done.exit_code == 1
    assert "line 2: colour" in done.output
    assert "line 4: is not JSON" in done.output
    assert "nothing was sent" in done.output


def test_publish_check_sends_nothing_and_tells_the_ids(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text(json.dumps(GOOD), "utf-8")
    done = run(app, ["publish", str(file), "--check", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.output) == {"ids": ["e1"], "sent": False}


def test_a_file_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    done = run(app, ["publish", str(tmp_path / "none.jsonl")])
    assert done.exit_code == 1
    assert "none.jsonl" in done.output


def test_a_wrong_setting_is_exit_code_two(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FACTSTREAM_REPLICATION", "many")
    done = run(app, ["status"])
    assert done.exit_code == 2
    assert "FACTSTREAM_REPLICATION" in done.output


def test_a_service_that_does_not_answer_is_one_clear_line() -> None:
    done = run(app, ["search", "Ana", "-g", "g", "--url", "http://127.0.0.1:9"])
    assert done.exit_code == 1
    assert "does not answer" in done.output


def test_dead_replay_wants_to_know_what() -> None:
    done = run(app, ["dead", "replay"])
    assert done.exit_code == 1
    assert "--all" in done.output


def test_a_context_asks_for_what_was_replaced_only_when_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []

    def answer(method: str, url: str, *, json: dict[str, Any]) -> dict[str, Any]:
        sent.append(json)
        return {"context": f"{method} {url}"}

    monkeypatch.setattr("factstream.cli.ask.request", answer)
    for more in ([], ["--replaced"]):
        done = run(app, ["context", "Where is Ana?", "-g", "g", "--url", "http://search", *more])
        assert done.output == "POST http://search/v1/context\n"
    asked = {"query": "Where is Ana?", "group_ids": ["g"], "max_tokens": 2000}
    assert sent == [asked, {**asked, "replaced": True}]
