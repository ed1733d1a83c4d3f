"""API keys: who may touch which groups. Only hashes of keys are known, and none is ever logged."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Collection, Mapping
from typing import Literal

from pipeline.errors import SettingError

AllowedGroups = Collection[str] | Literal["*"]
"""Group ids, or "*" for every group."""

_HASH = re.compile(r"[0-9a-f]{64}")


def hash_key(key: str) -> str:
    """The form in which a key stands in the settings: its SHA-256 in hex."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


class AccessKeys:
    """The keys of a service. Without keys everything is allowed to everyone."""

    def __init__(self, keys: Mapping[str, AllowedGroups]) -> None:
        """Raises SettingError when something is no SHA-256 in hex or names no groups."""
        for hashed, groups in keys.items():
            if not _HASH.fullmatch(hashed):
                raise SettingError("api_keys: each key must be given as its SHA-256 in lower-case hex")
            if groups != "*" and (isinstance(groups, str) or not groups):
                raise SettingError(f'api_keys: {hashed[:8]}… needs a list of groups, or "*" for all')
        self._keys = tuple((hashed.encode(), groups) for hashed, groups in keys.items())

    @property
    def required(self) -> bool:
        """Whether a request needs a key."""
        return bool(self._keys)

    def groups_of(self, key: str) -> AllowedGroups | None:
        """The groups of a key; None when it is not known."""
        hashed, allowed = hash_key(key).encode(), None
        # Every key is compared, whichever fits, so that the time taken says nothing.
        for known, groups in self._keys:
            if hmac.compare_digest(known, hashed):
                allowed = groups
        return allowed


def presented_key(authorization: str, x_api_key: str | None) -> str | None:
    """The key in `Authorization: Bearer <key>` or `X-API-Key`."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return x_api_key or None


def check_exposure(service: str, host: str, keys: Mapping[str, AllowedGroups]) -> None:
    """Raises SettingError when anyone on the network could use a service without a key."""
    if not keys and not _is_loopback(host):
        raise SettingError(
            f"api_keys: the {service} would be open to everyone on {host or 'all addresses'}; "
            "configure API keys, or bind it to 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
