"""Who rebuilds a group: a lease in the table of settings that runs out by itself."""

from __future__ import annotations

import json
import sqlite3
import time
from typing import Any

from pipeline.errors import Retryable
from pipeline.graph.ledger import Lease

LEASE = "SELECT value FROM setting WHERE name = ?"
PUT_LEASE = "INSERT INTO setting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"
DROP_LEASE = "DELETE FROM setting WHERE name = ?"


def lease(
    connection: sqlite3.Connection, group_id: str, wanted: Lease, seconds: float, holds: bool
) -> Lease | None:
    """Take or renew; another's lease when that has not run out."""
    standing, now = _standing(connection, group_id), time.time()
    if standing and standing["until"] > now and standing["token"] != wanted.token:
        return Lease(standing["token"], standing["holder"])
    value = {"token": wanted.token, "holder": wanted.holder, "until": now + seconds, "holds": holds}
    connection.execute(PUT_LEASE, (_name(group_id), json.dumps(value)))
    return None


def end_lease(connection: sqlite3.Connection, group_id: str, token: str) -> None:
    """Let go of one's own."""
    standing = _standing(connection, group_id)
    if standing and standing["token"] == token:
        connection.execute(DROP_LEASE, (_name(group_id),))


def pass_lease(connection: sqlite3.Connection, group_id: str, token: str = "") -> None:
    """Retryable while the group is held by another."""
    standing = _standing(connection, group_id)
    if standing and standing["holds"] and standing["until"] > time.time() and standing["token"] != token:
        raise Retryable(f"group {group_id!r} is held while a rebuild of it is swapped in")


def _standing(connection: sqlite3.Connection, group_id: str) -> dict[str, Any]:
    row = connection.execute(LEASE, (_name(group_id),)).fetchone()
    return dict(json.loads(row[0])) if row else {}


def _name(group_id: str) -> str:
    return f"lease {group_id}"
