"""factstream: memory for agents as a streaming system.

`factstream.Memory` and `factstream.SyncMemory` are the embedded form: one process, one file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from factstream.memory import Added, EpisodeDied, InvalidRequest, Memory, SyncMemory

__all__ = ["Added", "EpisodeDied", "InvalidRequest", "Memory", "SyncMemory"]


def __getattr__(name: str) -> Any:
    # Loaded when first used, so that the command line and the services do not pay for it.
    if name in __all__:
        from factstream import memory

        return getattr(memory, name)
    raise AttributeError(f"module 'factstream' has no attribute {name!r}")
