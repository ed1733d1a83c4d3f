"""What `factstream stack status` tells."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, computed_field


class ServerStatus(BaseModel):
    """One server process; `rss_mib` is its resident memory."""

    model_config = ConfigDict(frozen=True)

    name: str
    running: bool
    ready: bool
    pid: int | None
    port: int
    rss_mib: int | None
    log: Path


class StackStatus(BaseModel):
    """The whole stack. Before the first `up` in a folder there are no servers and no addresses."""

    model_config = ConfigDict(frozen=True)

    data: Path
    kafka_bootstrap: str | None
    bolt_uri: str | None
    servers: tuple[ServerStatus, ...]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def running(self) -> bool:
        """Whether every server's process is alive."""
        return bool(self.servers) and all(server.running for server in self.servers)

    @property
    def ready(self) -> bool:
        """Whether every server answers its clients."""
        return bool(self.servers) and all(server.ready for server in self.servers)

    @property
    def pids(self) -> dict[str, int]:
        """The process id of every running server, by name."""
        return {server.name: server.pid for server in self.servers if server.pid is not None}
