"""API keys: who may touch which groups. Only hashes of keys are known, and none is ever logged."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Mapping
from pathlib import Path

from pipeline.errors import SettingError
from pipeline.keys_file import AllowedGroups, KeysFile

__all__ = [
    "AccessKeys",
    "AllowedGroups",
    "check_exposure",
    "check_keys",
    "hash_key",
    "is_loopback",
    "presented_key",
]

_HASH = re.compile(r"[0-9a-f]{64}")


def hash_key(key: str) -> str:
    """The form in which a key stands in the settings: its SHA-256 in hex."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


def check_keys(keys: Mapping[str, AllowedGroups]) -> None:
    """Raises SettingError when something is no SHA-256 in hex or names no groups."""
    for hashed, groups in keys.items():
        if not _HASH.fullmatch(hashed):
            raise SettingError("api_keys: each key must be given as its SHA-256 in lower-case hex")
        if groups == "*":
            continue
        if isinstance(groups, str) or not groups or not all(isinstance(one, str) for one in groups):
            raise SettingError(f'api_keys: {hashed[:8]}… needs a list of groups, or "*" for all')


class AccessKeys:
    """The keys of a service. Without keys and without a file of them everything is allowed to everyone.

    Args:
        keys: those that stay the same while the service runs.
        file: a file of more (see `pipeline.keys_file`), asked anew for each request. With a file a key is needed,
            even while the file has none.

    Raises SettingError when keys are malformed or the file cannot be read.
    """

    def __init__(self, keys: Mapping[str, AllowedGroups], file: Path | None = None) -> None:
        check_keys(keys)
        self._keys = dict(keys)
        self._file = None if file is None else KeysFile(file, check_keys)

    @property
    def required(self) -> bool:
        """Whether a request needs a key."""
        return bool(self._keys) or self._file is not None

    def groups_of(self, key: str) -> AllowedGroups | None:
        """The groups of a key; None when it is not known."""
        hashed, allowed = hash_key(key).encode(), None
        known = self._keys if self._file is None else {**self._file.keys(), **self._keys}
        # Every key is compared, whichever fits, so that the time taken says nothing.
        for one, groups in known.items():
            if hmac.compare_digest(one.encode(), hashed):
                allowed = groups
        return allowed


def presented_key(authorization: str, x_api_key: str | None) -> str | None:
    """The key in `Authorization: Bearer <key>` or `X-API-Key`."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return x_api_key or None


def check_exposure(
    service: str, host: str, keys: Mapping[str, AllowedGroups], file: Path | None = None
) -> None:
    """Raises SettingError when anyone on the network could use a service without a key."""
    if not keys and file is None and not is_loopback(host):
        raise SettingError(
            f"api_keys: the {service} would be open to everyone on {host or 'all addresses'}; "
            "configure API keys, or bind it to 127.0.0.1"
        )


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches that address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
