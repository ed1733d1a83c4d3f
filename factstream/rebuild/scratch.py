"""Scratch: the files of a rebuild that is under way, which outlive a kill."""

from __future__ import annotations

import contextlib
import hashlib
import json
import uuid
from pathlib import Path
from types import TracebackType
from typing import Self

from factstream.memory.writer_lock import WriterLock
from factstream.rebuild.parts import Options, RebuildRefused
from pipeline.errors import SettingError


class Scratch:
    """The shadow's file in the folder of the options, and the token of the rebuild that it belongs to.

    One process has it, until the end of a `with`. A shadow that was made from something else, or by something that
    reads or resolves otherwise, is thrown away.
    """

    def __init__(self, options: Options, group_id: str) -> None:
        name = hashlib.sha256(group_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
        self._folder = options.folder
        self.graph = options.folder / f"{name}.db"
        self.said = options.folder / f"{name}.said"
        self._note = options.folder / f"{name}.json"
        self._lock = WriterLock(self.graph)
        self._group_id = group_id
        self._made_by = {"source": options.source.value, "identity": options.identity}
        self.token = ""
        self._removed = False

    def __enter__(self) -> Self:
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except SettingError as error:
            raise RebuildRefused(
                f"group {self._group_id!r} is being rebuilt by another process on this machine, with the folder "
                f"{self._folder}: wait for it"
            ) from error
        except OSError as error:
            raise RebuildRefused(f"the folder {self._folder} cannot be used: {error}") from error
        note = self._read()
        if {key: note.get(key) for key in self._made_by} != self._made_by or not note.get("token"):
            self._remove_graph()
            note = {**self._made_by, "token": uuid.uuid4().hex}
            beside = self._note.with_suffix(".new")
            beside.write_text(json.dumps(note))
            beside.replace(self._note)
        self.token = str(note["token"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._lock.release()
        if self._removed:
            self._beside("-writer-journal").unlink(missing_ok=True)
            with contextlib.suppress(OSError):
                # Others may have theirs in it.
                self._folder.rmdir()

    def remove(self) -> None:
        """The rebuild is at its end: nothing of it stays."""
        self._note.unlink(missing_ok=True)
        self._remove_graph()
        self._beside("-writer").unlink(missing_ok=True)
        self._removed = True

    def _read(self) -> dict[str, str]:
        try:
            return dict(json.loads(self._note.read_text()))
        except (OSError, ValueError):
            return {}

    def _remove_graph(self) -> None:
        for path in (self.graph, self.said, self._beside("-wal"), self._beside("-shm")):
            path.unlink(missing_ok=True)

    def _beside(self, end: str) -> Path:
        return self.graph.with_name(self.graph.name + end)
