"""Loopback ports: which are free, which answer, and who holds one."""

from __future__ import annotations

import random
import socket
from collections.abc import Collection

import psutil

from factstream.stack.errors import StackError

HOST = "127.0.0.1"
# Below the range from which systems take the ports of outgoing connections.
FIRST, LAST = 20000, 32000


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of the loopback address now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen(1)
        except OSError:
            return False
    return not accepts(port)


def accepts(port: int) -> bool:
    """Whether something takes TCP connections on this port now."""
    try:
        with socket.create_connection((HOST, port), timeout=1):
            return True
    except OSError:
        return False


def find_free(preferred: int = 0, *, taken: Collection[int] = ()) -> int:
    """`preferred` when it is free and not `taken`, else a random free port between 20000 and 32000."""
    if preferred and preferred not in taken and is_free(preferred):
        return preferred
    for port in random.sample(range(FIRST, LAST), 200):
        if port not in taken and is_free(port):
            return port
    raise StackError(f"no free port between {FIRST} and {LAST} on {HOST}")


def holder(port: int) -> str:
    """Who listens on `port`, as "java (pid 42)", or "another process" where the system does not tell."""
    try:
        connections = psutil.net_connections(kind="tcp")
    except psutil.Error:
        return "another process"
    for connection in connections:
        # A connection's address is (host, port), or () for a socket that is not bound.
        listens = connection.status == psutil.CONN_LISTEN and tuple(connection.laddr)[1:] == (port,)
        if listens and connection.pid:
            try:
                return f"{psutil.Process(connection.pid).name()} (pid {connection.pid})"
            except psutil.Error:
                return f"pid {connection.pid}"
    return "another process"
