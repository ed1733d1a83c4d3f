"""Choosing ports on loopback."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from factstream.stack import StackError, StackMemory, ports
from factstream.stack.layout import StackLayout


@pytest.fixture
def busy() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_a_port_that_is_listened_on_is_not_free(busy: int) -> None:
    assert not ports.is_free(busy)
    assert ports.accepts(busy)


def test_a_free_port_can_be_listened_on() -> None:
    port = ports.find_free()
    assert ports.FIRST <= port < ports.LAST
    assert not ports.accepts(port)
    with socket.create_server((ports.HOST, port)):
        assert ports.accepts(port)


def test_the_preferred_port_is_taken_when_free() -> None:
    port = ports.find_free()
    assert ports.find_free(port) == port
    assert ports.find_free(port, taken={port}) != port


def test_a_busy_preferred_port_is_left_alone(busy: int) -> None:
    assert ports.find_free(busy) != busy


def test_the_holder_of_a_port_is_named(busy: int) -> None:
    assert f"(pid {os.getpid()})" in ports.holder(busy)


def test_all_ports_of_a_layout_differ() -> None:
    layout = StackLayout.choose(0, 0, 3, StackMemory())
    chosen = [*layout.broker_ports, *layout.controller_ports, layout.bolt_port]
    assert len(set(chosen)) == 7
    assert layout.bootstrap.count("127.0.0.1:") == 3


def test_given_ports_are_kept_even_when_busy(busy: int) -> None:
    layout = StackLayout.choose(busy, 17999, 1, StackMemory())
    assert layout.broker_ports == (busy,)
    assert layout.bolt_port == 17999


def test_brokers_of_a_given_port_are_ten_apart() -> None:
    assert StackLayout.choose(21000, 0, 3, StackMemory()).broker_ports == (21000, 21010, 21020)


def test_a_layout_is_read_back_as_it_was_saved(tmp_path: Path) -> None:
    assert StackLayout.load(tmp_path) is None
    layout = StackLayout.choose(0, 0, 1, StackMemory(neo4j_heap=512))
    layout.save(tmp_path)
    assert StackLayout.load(tmp_path) == layout


def test_a_damaged_layout_says_what_to_delete(tmp_path: Path) -> None:
    (tmp_path / "stack.json").write_text("{}")
    with pytest.raises(StackError, match="delete"):
        StackLayout.load(tmp_path)


@pytest.mark.parametrize(("text", "heap"), [("768m", 768), ("2g", 2048), (" 1G ", 1024)])
def test_memory_is_read(text: str, heap: int) -> None:
    assert StackMemory.parse(text).neo4j_heap == heap


@pytest.mark.parametrize("text", ["1", "1t", "-1g", "much", "100m", ""])
def test_other_memory_is_refused(text: str) -> None:
    with pytest.raises(StackError):
        StackMemory.parse(text)
