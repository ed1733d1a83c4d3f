"""Files of the local servers: written whole, read from the end."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

TAIL_BYTES = 64 * 1024


def write_atomic(path: Path, text: str) -> None:
    """Write `text` so that a reader sees the old file or the new one, never a part."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    scratch.write_text(text, encoding="utf-8")
    scratch.replace(path)


def tail(path: Path, lines: int) -> list[str]:
    """The last `lines` lines of a log, from at most its last 64 KiB; none for a file that is not there."""
    if lines < 1 or not path.is_file():
        return []
    with path.open("rb") as log:
        log.seek(max(0, path.stat().st_size - TAIL_BYTES))
        return log.read().decode("utf-8", "replace").splitlines()[-lines:]


def properties(settings: Mapping[str, str]) -> str:
    """A Java properties file: one `key=value` a line, everything beyond ASCII written as UTF-16 escapes."""
    return "".join(f"{key}={_escaped(value)}\n" for key, value in settings.items())


def _escaped(value: str) -> str:
    units = value.replace("\\", "\\\\").encode("utf-16-be")
    codes = (int.from_bytes(units[i : i + 2], "big") for i in range(0, len(units), 2))
    return "".join(chr(code) if code < 128 else f"\\u{code:04x}" for code in codes)
