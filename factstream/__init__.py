"""factstream: memory for agents as a streaming system.

`factstream.Memory` and `factstream.SyncMemory` are the embedded form: one process, one file. `factstream.Client` and
`factstream.AsyncClient` talk to a running gateway and search service.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factstream.client import AsyncClient, Client
    from factstream.memory import Added, EpisodeDied, InvalidRequest, Memory, SyncMemory

__all__ = ["Added", "AsyncClient", "Client", "EpisodeDied", "InvalidRequest", "Memory", "SyncMemory"]

# Loaded when first used, so that the command line and the services do not pay for it.
_HOMES = {
    "Added": "factstream.memory",
    "AsyncClient": "factstream.client",
    "Client": "factstream.client",
    "EpisodeDied": "factstream.memory",
    "InvalidRequest": "factstream.memory",
    "Memory": "factstream.memory",
    "SyncMemory": "factstream.memory",
}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'factstream' has no attribute {name!r}")
