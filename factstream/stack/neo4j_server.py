"""One Neo4j Community server with Bolt on loopback."""

from __future__ import annotations

from pathlib import Path

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from factstream.stack import ports
from factstream.stack.files import properties, write_atomic
from factstream.stack.memory import StackMemory
from factstream.stack.server import Server

ASK_SECONDS = 3.0


class Neo4jServer(Server):
    """Neo4j started from its jars by its own main class; no HTTP, no password, nothing sent home."""

    def __init__(self, root: Path, port: int, memory: StackMemory) -> None:
        super().__init__("neo4j", root, port)
        self._memory = memory
        self._home = root / "neo4j"

    @property
    def log(self) -> Path:
        return self.root / "logs" / "neo4j" / "neo4j.log"

    @property
    def ports(self) -> tuple[int, ...]:
        return (self.port,)

    @property
    def uri(self) -> str:
        """The address for drivers."""
        return f"bolt://{ports.HOST}:{self.port}"

    def settings(self) -> dict[str, str]:
        """The text of `neo4j.conf` as a map."""
        heap = self._memory.neo4j_heap
        address = f"{ports.HOST}:{self.port}"
        return {
            "server.directories.logs": str(self.log.parent),
            "server.default_listen_address": ports.HOST,
            "server.bolt.enabled": "true",
            "server.bolt.listen_address": address,
            "server.bolt.advertised_address": address,
            "server.http.enabled": "false",
            "server.https.enabled": "false",
            "dbms.security.auth_enabled": "false",
            "dbms.usage_report.enabled": "false",
            "dbms.fleet_manager.enabled": "false",
            "client.allow_telemetry": "false",
            "db.logs.query.enabled": "OFF",
            "server.memory.pagecache.size": f"{self._memory.neo4j_page_cache}m",
            "dbms.memory.transaction.total.max": f"{heap * 6 // 10}m",
            "db.memory.transaction.max": f"{heap // 2}m",
            # By default each of two databases reserves 256 MiB of disk for its transaction log.
            "db.tx_log.preallocate": "false",
            "db.tx_log.rotation.retention_policy": "100M size",
            # Two waits of 5 s for late clients, after the databases have been closed.
            "internal.dbms.bolt.netty_server_shutdown_quiet_period_duration": "0s",
            "internal.server.bolt.thread_pool_shutdown_wait_time": "1s",
        }

    def prepare(self, java: Path, jars: Path) -> None:
        self.log.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(self._home / "conf" / "neo4j.conf", properties(self.settings()))

    def command(self, java: Path, jars: Path) -> list[str]:
        opened = [
            f"--add-opens=java.base/{package}=ALL-UNNAMED"
            for package in ("java.nio", "java.io", "sun.nio.ch")
        ]
        return [
            str(java),
            self.marker,
            f"-Xmx{self._memory.neo4j_heap}m",
            "-XX:+UseSerialGC",
            "-XX:+ExitOnOutOfMemoryError",
            "-Djava.awt.headless=true",
            *opened,
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-cp",
            f"{jars}/*",
            "org.neo4j.server.Neo4jCommunity",
            f"--home-dir={self._home}",
            f"--config-dir={self._home / 'conf'}",
        ]

    def answers(self) -> bool:
        """Whether `RETURN 1` comes back over Bolt."""
        if not ports.accepts(self.port):
            return False
        try:
            with GraphDatabase.driver(
                self.uri,
                auth=None,
                connection_timeout=ASK_SECONDS,
                connection_acquisition_timeout=ASK_SECONDS,
                max_transaction_retry_time=0,
            ) as driver:
                return bool(driver.execute_query("RETURN 1 AS one").records[0]["one"] == 1)
        except (DriverError, Neo4jError, OSError):
            return False
