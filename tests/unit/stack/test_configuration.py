"""What the servers are told: loopback only, replication by size, capped memory, nothing sent home."""

from __future__ import annotations

from pathlib import Path

import pytest

from factstream.stack import StackMemory
from factstream.stack.environment import java_environment
from factstream.stack.files import properties
from factstream.stack.kafka_server import KafkaServer
from factstream.stack.neo4j_server import Neo4jServer

JAVA, JARS = Path("/java"), Path("/jars")


def kafka(root: Path, nodes: int, index: int = 0) -> KafkaServer:
    brokers = [21000 + 10 * n for n in range(nodes)]
    return KafkaServer(root, index, brokers, [port + 1 for port in brokers], heap=256)


def neo4j(root: Path) -> Neo4jServer:
    return Neo4jServer(root, 21687, StackMemory(neo4j_heap=1000, neo4j_page_cache=64))


def test_kafka_listens_on_loopback_only(tmp_path: Path) -> None:
    settings = kafka(tmp_path, 1).properties()
    assert settings["listeners"] == "PLAINTEXT://127.0.0.1:21000,CONTROLLER://127.0.0.1:21001"
    assert settings["advertised.listeners"] == "PLAINTEXT://127.0.0.1:21000"
    assert settings["auto.create.topics.enable"] == "false"


@pytest.mark.parametrize(("nodes", "replicas", "in_sync"), [(1, "1", "1"), (3, "3", "2")])
def test_replication_follows_the_number_of_nodes(
    tmp_path: Path, nodes: int, replicas: str, in_sync: str
) -> None:
    settings = kafka(tmp_path, nodes).properties()
    for key in ("default", "offsets.topic", "transaction.state.log", "share.coordinator.state.topic"):
        assert settings[f"{key}.replication.factor"] == replicas
    for key in (
        "min.insync.replicas",
        "transaction.state.log.min.isr",
        "share.coordinator.state.topic.min.isr",
    ):
        assert settings[key] == in_sync


def test_every_node_knows_all_voters(tmp_path: Path) -> None:
    nodes = [kafka(tmp_path, 3, index) for index in range(3)]
    voters = {node.properties()["controller.quorum.voters"] for node in nodes}
    assert voters == {"1@127.0.0.1:21001,2@127.0.0.1:21011,3@127.0.0.1:21021"}
    assert [node.properties()["node.id"] for node in nodes] == ["1", "2", "3"]
    assert [node.name for node in nodes] == ["kafka-1", "kafka-2", "kafka-3"]
    assert nodes[2].ports == (21020, 21021)
    assert len({node.marker for node in nodes}) == 3


def test_commands_carry_the_marker_and_the_heap(tmp_path: Path) -> None:
    for server, heap in ((kafka(tmp_path, 1), "-Xmx256m"), (neo4j(tmp_path), "-Xmx1000m")):
        command = server.command(JAVA, JARS)
        assert command[0] == "/java"
        assert server.marker in command
        assert heap in command
        assert "/jars/*" in command


def test_neo4j_listens_on_loopback_only_and_sends_nothing_home(tmp_path: Path) -> None:
    server = neo4j(tmp_path)
    server.prepare(JAVA, JARS)
    text = (tmp_path / "neo4j" / "conf" / "neo4j.conf").read_text()
    settings = dict(line.split("=", 1) for line in text.splitlines())
    assert settings["server.bolt.listen_address"] == "127.0.0.1:21687"
    assert settings["server.default_listen_address"] == "127.0.0.1"
    assert settings["dbms.usage_report.enabled"] == "false"
    assert settings["db.logs.query.enabled"] == "OFF"
    assert (settings["server.http.enabled"], settings["server.https.enabled"]) == ("false", "false")
    assert settings["server.memory.pagecache.size"] == "64m"
    assert settings["dbms.memory.transaction.total.max"] == "600m"
    assert settings["db.memory.transaction.max"] == "500m"
    assert server.uri == "bolt://127.0.0.1:21687"


def test_a_server_that_nobody_started_does_not_answer(tmp_path: Path) -> None:
    for server in (kafka(tmp_path, 1), neo4j(tmp_path)):
        found = server.status()
        assert (found.running, found.ready, found.pid, found.rss_mib) == (False, False, None, None)
        assert server.lines(5) == []


def test_log_lines_are_the_last_ones(tmp_path: Path) -> None:
    server = kafka(tmp_path, 1)
    server.log.parent.mkdir(parents=True)
    server.output.write_text("printed\n")
    server.log.write_text("".join(f"line {n}\n" for n in range(10_000)))
    assert server.lines(2) == ["line 9998", "line 9999"]
    assert "line 9999" in server.excerpt()
    assert str(server.log) in server.excerpt()


def test_properties_are_ascii() -> None:
    text = properties({"log.dirs": "/home/josé/数😀 x", "other": "a\\b"})
    assert text == "log.dirs=/home/jos\\u00e9/\\u6570\\ud83d\\ude00 x\nother=a\\\\b\n"


def test_java_options_of_other_programs_are_not_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-Xmx8g")
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.setenv("KEPT", "yes")
    found = java_environment()
    assert "JAVA_TOOL_OPTIONS" not in found
    assert found["LC_ALL"] == "C.UTF-8"
    assert found["KEPT"] == "yes"
