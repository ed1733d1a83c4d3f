"""API keys: who may read which groups. Only hashes of keys are known here, and none is ever logged."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import Request

from pipeline.errors import SettingError
from search_api.problems import ProblemError
from search_api.settings import AllowedGroups

_HASH = re.compile(r"[0-9a-f]{64}")
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="factstream"'}


def hash_key(key: str) -> str:
    """The form in which a key stands in the settings: its SHA-256 in hex."""
    return hashlib.sha256(key.encode("utf-8", "surrogateescape")).hexdigest()


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request, and the groups that they may read."""

    allowed: AllowedGroups

    def must_read(self, group_ids: Iterable[str]) -> None:
        """Raises a 403 problem that names the first group that is not allowed."""
        for group_id in group_ids:
            if self.allowed != "*" and group_id not in self.allowed:
                raise ProblemError(HTTPStatus.FORBIDDEN, f"this API key may not read group {group_id!r}")


class KeyRing:
    """The keys of a service. Without keys every caller may read everything."""

    def __init__(self, keys: Mapping[str, AllowedGroups]) -> None:
        """Raises SettingError when something is no SHA-256 in hex or names no groups."""
        for hashed, groups in keys.items():
            if not _HASH.fullmatch(hashed):
                raise SettingError("api_keys: each key must be given as its SHA-256 in lower-case hex")
            if groups != "*" and (isinstance(groups, str) or not groups):
                raise SettingError(f'api_keys: {hashed[:8]}… needs a list of groups, or "*" for all')
        self._keys = tuple((hashed.encode(), groups) for hashed, groups in keys.items())

    def caller(self, request: Request) -> Caller:
        """Who sent the request, by `Authorization: Bearer <key>` or `X-API-Key`; raises a 401 problem."""
        if not self._keys:
            return Caller("*")
        presented = _presented(request)
        if presented is None:
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "an API key is needed", headers=_CHALLENGE)
        hashed, allowed = hash_key(presented).encode(), None
        # Every key is compared, whichever fits, so that the time taken says nothing.
        for known, groups in self._keys:
            if hmac.compare_digest(known, hashed):
                allowed = groups
        if allowed is None:
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "this API key is not known", headers=_CHALLENGE)
        return Caller(allowed)


def check_exposure(host: str, keys: Mapping[str, AllowedGroups]) -> None:
    """Raises SettingError when anyone on the network could read everything."""
    if not keys and not _is_loopback(host):
        raise SettingError(
            f"api_keys: the read service would be open to everyone on {host or 'all addresses'}; "
            "configure API keys, or bind it to 127.0.0.1"
        )


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def _presented(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and token.strip():
        return token.strip()
    return request.headers.get("x-api-key") or None
