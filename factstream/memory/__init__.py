"""factstream in one process on one file: the same stages, the same contracts, the same answers."""

from factstream.memory.memory import Memory
from factstream.memory.options import InvalidRequest
from factstream.memory.results import Added, EpisodeDied, Forgotten
from factstream.memory.sync import SyncMemory

__all__ = ["Added", "EpisodeDied", "Forgotten", "InvalidRequest", "Memory", "SyncMemory"]
