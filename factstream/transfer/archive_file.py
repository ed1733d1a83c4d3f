"""The archive file: JSON Lines that hold whole groups, checked by their number and a hash before anything is taken in.

The first line says what it is, the last how many lines there are and what they hash to. Between them stand, for each
group, a line that begins it, events that were accepted and not finished, and its records (pipeline.graph.archive).
"""

from __future__ import annotations

import hashlib
import json
import os
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, BinaryIO, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.errors import FactstreamError, SettingError
from pipeline.graph.archive import Record
from pipeline.model.moments import Moment

FORMAT = 1
_BEGIN = b'{"kind":"begin"'


class BadArchive(FactstreamError):
    """A file that is no archive, or a damaged one; nothing of it was taken in."""


class EventRecord(BaseModel):
    """An event that was accepted by an embedded memory and is not through all stages; `dead` says why it was given up."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["event"] = "event"
    id: str
    group_id: str
    logged_at: Moment
    event: dict[str, Any]
    dead: str | None = None


class Head(BaseModel):
    """What an archive says of itself. `id` names it, so that an import knows how far it is."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["archive"] = "archive"
    format: int = FORMAT
    id: str
    groups: tuple[str, ...]
    model: str | None
    dimension: int


class Line(BaseModel):
    """A record with its place: `number` counts the lines behind the head from 1, `size` is its bytes."""

    number: int
    size: int
    group_id: str
    record: Record | EventRecord


_lines: TypeAdapter[Record | EventRecord] = TypeAdapter(
    Annotated[Record | EventRecord, Field(discriminator="kind")]
)


class ArchiveWriter:
    """Writes an archive under its name with `.part` behind it, until `finish`.

    A `.part` that is there is continued at the group in which it ends. Raises SettingError when the file is there
    already, or the `.part` is of something else.
    """

    def __init__(self, path: Path, groups: Sequence[str], model: str | None, dimension: int) -> None:
        if path.exists():
            raise SettingError(f"{path} is there already: name another file")
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._wanted = Head(id=uuid.uuid4().hex, groups=tuple(groups), model=model, dimension=dimension)
        self._out: BinaryIO | None = None
        self._start = 0
        self.done: list[str] = []

    def __enter__(self) -> Self:
        try:
            self._open()
        except OSError as error:
            raise SettingError(f"{self._part} cannot be written: {error.strerror or error}") from error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._out is not None:
            self._out.close()

    @property
    def head(self) -> Head:
        """What the file says of itself."""
        return self._wanted

    def begin(self, group_id: str) -> None:
        """Begin a group; again, when it was begun last: throw away what was written of it."""
        out = self._file
        if self.done and self.done[-1] == group_id:
            out.seek(self._start)
            out.truncate()
        else:
            self._start = out.tell()
            self.done.append(group_id)
        self._write(orjson.dumps({"kind": "begin", "group": group_id}))

    def put(self, record: Record | EventRecord) -> None:
        """One line."""
        self._write(record.model_dump_json().encode())

    def flush(self) -> None:
        """Everything so far outlives a power cut."""
        self._file.flush()
        os.fsync(self._file.fileno())

    def finish(self) -> int:
        """Write the last line and give the file its name; the number of lines between head and end."""
        out = self._file
        out.flush()
        digest, count = hashlib.sha256(), -1
        with self._part.open("rb") as written:
            for line in written:
                digest.update(line)
                count += 1
        self._write(orjson.dumps({"kind": "end", "records": count, "sha256": digest.hexdigest()}))
        self.flush()
        self._part.rename(self._path)
        return count

    @property
    def _file(self) -> BinaryIO:
        if self._out is None:
            raise RuntimeError("the archive is not open")
        return self._out

    def _open(self) -> None:
        if not self._part.exists() or not self._part.stat().st_size:
            self._out = self._part.open("w+b")
            self._write(self._wanted.model_dump_json().encode())
            return
        self._out = self._part.open("r+b")
        found = _head(self._out.readline(), self._part)
        if (found.groups, found.model, found.dimension) != self._continued_as:
            raise SettingError(f"{self._part} is of another export: remove it, or name another file")
        self._wanted = found
        cut = place = self._out.tell()
        for line in self._out:
            if line.startswith(_BEGIN) and line.endswith(b"\n"):
                cut = place
                self.done.append(str(orjson.loads(line)["group"]))
            place += len(line)
        # The group in which it ends may be half of what it was at one moment.
        self.done = self.done[:-1]
        self._out.seek(cut)
        self._out.truncate()

    @property
    def _continued_as(self) -> tuple[tuple[str, ...], str | None, int]:
        return self._wanted.groups, self._wanted.model, self._wanted.dimension

    def _write(self, line: bytes) -> None:
        self._file.write(line + b"\n")


class Archive:
    """A finished archive. Raises BadArchive when it is none, is cut off or was changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            with path.open("rb") as file:
                first = file.readline()
                self.head = _head(first, path)
                self.records = _checked(file, first, path)
        except OSError as error:
            raise BadArchive(f"{path} cannot be read: {error.strerror or error}") from error

    @staticmethod
    def is_one(path: Path) -> bool:
        """Whether a file begins as an archive does."""
        try:
            with path.open("rb") as file:
                return file.read(17) == b'{"kind":"archive"'
        except OSError:
            return False

    def lines(self) -> Iterator[Line]:
        """Every record in its order."""
        with self._path.open("rb") as file:
            file.readline()
            group = ""
            for number, line in enumerate(file, 1):
                if number > self.records:
                    return
                if line.startswith(_BEGIN):
                    group = str(orjson.loads(line)["group"])
                    continue
                try:
                    record = _lines.validate_json(line)
                except ValidationError as error:
                    first = error.errors()[0]
                    field = ".".join(map(str, first["loc"]))
                    raise BadArchive(f"{self._path}, line {number + 1}: {field}: {first['msg']}") from None
                yield Line.model_construct(number=number, size=len(line), group_id=group, record=record)


def _head(line: bytes, path: Path) -> Head:
    try:
        head = Head.model_validate_json(line)
    except ValidationError:
        raise BadArchive(f"{path} is no archive of factstream") from None
    if head.format > FORMAT:
        raise BadArchive(f"{path} has format {head.format}, this program knows up to {FORMAT}")
    return head


def _checked(file: BinaryIO, first: bytes, path: Path) -> int:
    """The number of lines between head and end."""
    digest, count, last = hashlib.sha256(first), 0, b""
    for line in file:
        if last:
            digest.update(last)
            count += 1
        last = line
    try:
        end = json.loads(last)
        whole = end["kind"] == "end"
    except (ValueError, KeyError, TypeError):
        whole = False
    if not whole:
        raise BadArchive(f"{path} is cut off: its last line is missing")
    if (end.get("records"), end.get("sha256")) != (count, digest.hexdigest()):
        raise BadArchive(f"{path} is damaged: its content does not fit the hash in its last line")
    return count
