"""One line of a jar list."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Jar:
    """A Maven artifact with the size in bytes and the SHA-256 that it must have."""

    sha256: str
    size: int
    group: str
    artifact: str
    version: str
    classifier: str = ""

    @classmethod
    def parse(cls, line: str) -> Jar:
        """Read `sha256 bytes group:artifact:version[:classifier]`; raises `ValueError` on anything else."""
        sha256, size, coordinate = line.split()
        group, artifact, version, *classifier = coordinate.split(":")
        if len(classifier) > 1:
            raise ValueError(f"not a coordinate: {coordinate}")
        return cls(sha256, int(size), group, artifact, version, *classifier)

    @property
    def file_name(self) -> str:
        """The file's name in a Maven repository."""
        tail = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{tail}.jar"

    def matches(self, path: Path) -> bool:
        """Whether `path` exists and is this jar, byte for byte."""
        if not path.is_file() or path.stat().st_size != self.size:
            return False
        return hashlib.sha256(path.read_bytes()).hexdigest() == self.sha256
