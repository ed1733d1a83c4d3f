"""A file of API keys that may change while a service runs: keys are added and withdrawn without a restart."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, Literal

from pipeline.errors import SettingError

AllowedGroups = Collection[str] | Literal["*"]
"""Group ids, or "*" for every group."""

_log = logging.getLogger(__name__)


class KeysFile:
    """A JSON object in a file: the SHA-256 of a key in hex to a list of groups, or "*".

    It is read again when its time, size or inode has changed; that is one `stat` for each question. A file that cannot
    be read any more, or is malformed, changes nothing: the keys read last stay valid, and a warning names the file and
    never what is in it. Replace the file in one step (write beside it, then rename).

    Args:
        check: raises SettingError when keys are malformed.

    Raises SettingError when the file cannot be read at the start.
    """

    def __init__(self, path: Path, check: Callable[[Mapping[str, AllowedGroups]], None]) -> None:
        self._path = path
        self._check = check
        self._seen: object = self._version()
        self._keys = self._read()

    def keys(self) -> Mapping[str, AllowedGroups]:
        """The keys of the file as it is now."""
        version = self._version()
        if version != self._seen:
            self._seen = version
            try:
                self._keys = self._read()
            except SettingError as error:
                _log.warning("%s; the keys read before stay valid", error)
            else:
                _log.info("the API keys were read anew from %s: there are %d", self._path, len(self._keys))
        return self._keys

    def _version(self) -> tuple[int, int, int] | None:
        try:
            stat = self._path.stat()
        except OSError:
            return None
        return stat.st_mtime_ns, stat.st_size, stat.st_ino

    def _read(self) -> Mapping[str, AllowedGroups]:
        try:
            keys: Any = json.loads(self._path.read_text("utf-8"))
        except OSError as error:
            raise SettingError(
                f"api_keys_file: {self._path} cannot be read: {error.strerror or type(error).__name__}"
            ) from error
        except ValueError:
            raise SettingError(f"api_keys_file: {self._path} is not JSON") from None
        if not isinstance(keys, dict):
            raise SettingError(f"api_keys_file: {self._path} must be a JSON object of keys")
        try:
            self._check(keys)
        except SettingError as error:
            raise SettingError(f"api_keys_file: {self._path}: {error}") from None
        return keys
