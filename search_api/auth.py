"""Who sent a request, and which groups they may read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path

from starlette.requests import HTTPConnection

from pipeline.access import AccessKeys, AllowedGroups, presented_key
from search_api.problems import ProblemError

_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="factstream"'}


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
    """The keys of the service. Without keys every caller may read everything."""

    def __init__(self, keys: Mapping[str, AllowedGroups], file: Path | None = None) -> None:
        """Raises SettingError when something is no SHA-256 in hex or names no groups, or the file cannot be read."""
        self._keys = AccessKeys(keys, file)

    @property
    def required(self) -> bool:
        """Whether a request needs a key."""
        return self._keys.required

    def caller(self, request: HTTPConnection) -> Caller:
        """Who sent the request, by `Authorization: Bearer <key>` or `X-API-Key`; raises a 401 problem."""
        if not self._keys.required:
            return Caller("*")
        presented = presented_key(request.headers.get("authorization", ""), request.headers.get("x-api-key"))
        if presented is None:
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "an API key is needed", headers=_CHALLENGE)
        allowed = self._keys.groups_of(presented)
        if allowed is None:
            raise ProblemError(HTTPStatus.UNAUTHORIZED, "this API key is not known", headers=_CHALLENGE)
        return Caller(allowed)
