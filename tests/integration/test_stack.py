"""The local stack against real servers: started, found again, killed, started again, stopped."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest
from aiokafka import AIOKafkaConsumer, AIOKafkaProducer
from aiokafka.admin import AIOKafkaAdminClient, NewTopic
from neo4j import GraphDatabase

from factstream.stack import LocalStack, StackError, StackMemory


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    folder = tmp_path_factory.mktemp("stack")
    yield folder
    LocalStack(folder).down()


@pytest.fixture(scope="module")
def running(root: Path) -> LocalStack:
    stack = LocalStack(root, kafka_port=0, bolt_port=0, memory=StackMemory(neo4j_heap=512))
    stack.up()
    return stack


async def produce(bootstrap: str, topic: str, value: bytes, *, create_with: int = 0) -> None:
    if create_with:
        admin = AIOKafkaAdminClient(bootstrap_servers=bootstrap)
        await admin.start()
        await admin.create_topics([NewTopic(topic, 1, create_with)])
        await admin.close()
    async with AIOKafkaProducer(bootstrap_servers=bootstrap, acks="all") as producer:
        await producer.send_and_wait(topic, value)


async def consume(bootstrap: str, topic: str, count: int) -> list[bytes]:
    async with AIOKafkaConsumer(topic, bootstrap_servers=bootstrap, auto_offset_reset="earliest") as consumer:
        async with asyncio.timeout(60):
            return [(await consumer.getone()).value for _ in range(count)]


def test_a_second_up_finds_what_runs(running: LocalStack, root: Path) -> None:
    first = running.up()
    assert first.running
    assert first.ready
    assert set(first.pids) == {"kafka-1", "neo4j"}
    again = LocalStack(root).up()
    assert again.pids == first.pids
    assert again.kafka_bootstrap == first.kafka_bootstrap
    assert again.bolt_uri == first.bolt_uri


def test_other_ports_are_refused_while_it_runs(running: LocalStack, root: Path) -> None:
    before = running.up().pids
    with pytest.raises(StackError, match="stop it before"):
        LocalStack(root, bolt_port=20001).up()
    assert running.status().pids == before


def test_vector_and_full_text_indexes_work(running: LocalStack) -> None:
    uri = running.up().bolt_uri
    assert uri is not None
    with GraphDatabase.driver(uri, auth=None) as driver:
        driver.execute_query(
            "CYPHER 25 CREATE VECTOR INDEX v FOR (n:Probe) ON n.vector WITH [n.group_id] "
            "OPTIONS {indexConfig: {`vector.dimensions`: 3, `vector.similarity_function`: 'cosine'}}"
        )
        driver.execute_query("CREATE FULLTEXT INDEX f FOR (n:Probe) ON EACH [n.text]")
        driver.execute_query("CALL db.awaitIndexes(60)")
        driver.execute_query(
            "UNWIND [['a', 'blue whale', [1.0, 0.0, 0.0]], ['b', 'red fox', [0.9, 0.1, 0.0]]] AS row "
            "CREATE (:Probe {group_id: row[0], text: row[1], vector: row[2]})"
        )
        driver.execute_query("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()")
        near = driver.execute_query(
            "CYPHER 25 MATCH (n:Probe) SEARCH n IN (VECTOR INDEX v FOR $q WHERE n.group_id = $g LIMIT 5) "
            "SCORE AS s RETURN n.text AS text",
            q=[1.0, 0.0, 0.0],
            g="b",
        ).records
        assert [record["text"] for record in near] == ["red fox"]
        words = driver.execute_query(
            "CALL db.index.fulltext.queryNodes('f', 'whale') YIELD node RETURN node.text AS text"
        ).records
        assert [record["text"] for record in words] == ["blue whale"]


def test_kafka_comes_back_after_sigkill_with_its_data(
    running: LocalStack, root: Path, topic_prefix: str
) -> None:
    before = running.up()
    topic = f"{topic_prefix}kept"
    assert before.kafka_bootstrap is not None
    asyncio.run(produce(before.kafka_bootstrap, topic, b"one", create_with=1))
    running.kill("kafka")
    dead = running.status()
    assert not dead.running
    assert set(dead.pids) == {"neo4j"}
    after = LocalStack(root).up()
    assert after.ready
    assert after.pids["neo4j"] == before.pids["neo4j"]
    assert after.pids["kafka-1"] != before.pids["kafka-1"]
    asyncio.run(produce(before.kafka_bootstrap, topic, b"two"))
    assert asyncio.run(consume(before.kafka_bootstrap, topic, 2)) == [b"one", b"two"]


def test_a_paused_server_does_not_answer_until_resumed(running: LocalStack) -> None:
    running.up()
    running.pause("neo4j")
    paused = {server.name: server for server in running.status().servers}["neo4j"]
    assert paused.running
    assert not paused.ready
    running.resume("neo4j")
    running.wait_ready("neo4j", 60)


def test_down_and_up_again_keeps_ports_and_data(running: LocalStack, root: Path) -> None:
    before = running.up()
    assert before.bolt_uri is not None
    with GraphDatabase.driver(before.bolt_uri, auth=None) as driver:
        driver.execute_query("CREATE (:Kept {name: 'still here'})")
    LocalStack(root).down()
    stopped = running.status()
    assert stopped.pids == {}
    assert list((root / "run").glob("*.json")) == []
    after = running.up()
    assert (after.kafka_bootstrap, after.bolt_uri) == (before.kafka_bootstrap, before.bolt_uri)
    with GraphDatabase.driver(before.bolt_uri, auth=None) as driver:
        assert driver.execute_query("MATCH (n:Kept) RETURN n.name AS name").records[0]["name"] == "still here"
    assert any("Started" in line for line in running.logs("neo4j", 200))


def test_a_server_that_dies_while_starting_is_reported_with_its_log(running: LocalStack) -> None:
    running.up()
    running.stop("kafka")
    config = running.status().data / "kafka" / "node-1" / "data" / "meta.properties"
    kept = config.read_text(encoding="utf-8")
    config.write_text("version=1\nnode.id=77\n", encoding="utf-8")
    try:
        with pytest.raises(StackError, match="kafka-1 ended while starting") as caught:
            running.start("kafka")
    finally:
        config.write_text(kept, encoding="utf-8")
    assert "kafka-1.log" in str(caught.value)
    assert "node" in str(caught.value)
    assert running.up().ready


def test_a_foreign_process_on_the_port_is_named(running: LocalStack) -> None:
    status = running.up()
    assert status.kafka_bootstrap is not None
    port = int(status.kafka_bootstrap.rsplit(":", 1)[1])
    running.stop("kafka")
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(StackError, match=f"port {port}.*is held by"),
    ):
        running.up()
    assert running.up().ready


def test_servers_of_an_attached_stack_end_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "mémoire 数据 😀"
    with LocalStack(folder, kafka_port=0, bolt_port=0, kafka_nodes=3, detached=False) as stack:
        started = stack.status()
        assert set(started.pids) == {"kafka-1", "kafka-2", "kafka-3", "neo4j"}
        assert started.kafka_bootstrap is not None
        topic = "replicated"
        asyncio.run(produce(started.kafka_bootstrap, topic, b"one", create_with=3))
        stack.kill("kafka-2")
        asyncio.run(produce(started.kafka_bootstrap, topic, b"two"))
        assert asyncio.run(consume(started.kafka_bootstrap, topic, 2)) == [b"one", b"two"]
        stack.start("kafka-2")
        assert stack.status().ready
    assert stack.status().pids == {}
