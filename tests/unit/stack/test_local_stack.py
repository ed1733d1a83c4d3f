"""The stack as a whole, as far as it goes without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from factstream.cli.stack import stack_app
from factstream.stack import LocalStack, StackError, StackMemory
from factstream.stack.layout import StackLayout
from factstream.stack.process import PidRecord


def used_before(root: Path, nodes: int = 1) -> StackLayout:
    """A folder as a reboot leaves it: a layout, and pid files of processes that are gone."""
    layout = StackLayout.choose(0, 0, nodes, StackMemory())
    layout.save(root)
    (root / "run").mkdir()
    for name in ("kafka-1", "neo4j"):
        record = PidRecord(pid=2**22 + 1, created=1.0, marker=f"-Dfactstream.server={root}#{name}")
        (root / "run" / f"{name}.json").write_text(record.model_dump_json())
    return layout


def test_an_unused_folder_has_no_servers(tmp_path: Path) -> None:
    status = LocalStack(tmp_path).status()
    assert status.servers == ()
    assert (status.kafka_bootstrap, status.bolt_uri) == (None, None)
    assert not status.running
    assert not status.ready


def test_stale_pid_files_are_not_taken_for_servers_and_go_with_down(tmp_path: Path) -> None:
    layout = used_before(tmp_path)
    stack = LocalStack(tmp_path)
    status = stack.status()
    assert status.pids == {}
    assert status.kafka_bootstrap == layout.bootstrap
    assert status.bolt_uri == f"bolt://127.0.0.1:{layout.bolt_port}"
    stack.down()
    assert list((tmp_path / "run").iterdir()) == []


def test_the_number_of_nodes_is_fixed_by_the_data(tmp_path: Path) -> None:
    used_before(tmp_path, nodes=3)
    with pytest.raises(StackError, match=r"3 node\(s\), not 1"):
        LocalStack(tmp_path, kafka_nodes=1).up()


def test_an_unknown_server_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    used_before(tmp_path, nodes=3)
    with pytest.raises(StackError, match="kafka-1, kafka-2, kafka-3, neo4j"):
        LocalStack(tmp_path).logs("postgres")


def test_what_does_not_run_cannot_be_paused(tmp_path: Path) -> None:
    used_before(tmp_path)
    with pytest.raises(StackError, match="neo4j is not running"):
        LocalStack(tmp_path).pause("neo4j")


def test_status_on_the_command_line_says_by_its_exit_code_that_nothing_runs(tmp_path: Path) -> None:
    layout = used_before(tmp_path)
    result = CliRunner().invoke(stack_app, ["status", "--json", "--root", str(tmp_path)])
    assert result.exit_code == 3
    found = json.loads(result.stdout)
    assert found["kafka_bootstrap"] == layout.bootstrap
    assert found["running"] is False
    assert [server["name"] for server in found["servers"]] == ["kafka-1", "neo4j"]
    table = CliRunner().invoke(stack_app, ["status", "--root", str(tmp_path)])
    assert table.exit_code == 3
    assert "stopped" in table.stdout
    assert layout.bootstrap in table.stdout


def test_errors_on_the_command_line_are_one_message_and_code_1(tmp_path: Path) -> None:
    result = CliRunner().invoke(stack_app, ["logs", "neo4j", "--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "nothing was started" in result.stderr
    assert "Traceback" not in result.output
    result = CliRunner().invoke(stack_app, ["up", "--memory", "lots", "--root", str(tmp_path)])
    assert result.exit_code == 1
    assert "768m" in result.stderr


def test_down_on_the_command_line_is_harmless_when_nothing_runs(tmp_path: Path) -> None:
    used_before(tmp_path)
    assert CliRunner().invoke(stack_app, ["down", "--root", str(tmp_path)]).exit_code == 0


def test_down_makes_no_folder(tmp_path: Path) -> None:
    LocalStack(tmp_path / "none").down()
    assert list(tmp_path.iterdir()) == []
