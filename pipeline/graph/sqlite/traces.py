"""Where a text stands in a file: every column of every row that belongs to a group."""

from __future__ import annotations

import sqlite3

from pipeline.graph.ledger import Trace
from pipeline.graph.needles import needles, stands_in
from pipeline.graph.sqlite.text import KINDS
from pipeline.graph.sqlite.writes import group_no

TABLES = """
SELECT name FROM pragma_table_list
WHERE schema = 'main' AND type IN ('table', 'virtual') AND name NOT LIKE 'sqlite_%' ORDER BY name"""
COLUMNS = "SELECT name FROM pragma_table_info(?)"
_OWNERS = {
    "groups": "no = :group",
    "metadata": "episode_no IN (SELECT no FROM episode WHERE group_no = :group)",
    "belief": "fact_no IN (SELECT no FROM fact WHERE group_no = :group)",
    # No group has it: the settings of the file.
    "setting": "name IS NOT NULL",
    **{f"{kind}_text": "scope = CAST(:group AS TEXT)" for kind in KINDS},
}


def traces(connection: sqlite3.Connection, group_id: str, text: str) -> tuple[Trace, ...]:
    """Every column in which the text stands; vectors hold no text and are passed over."""
    group = group_no(connection, group_id)
    wanted = needles(text)
    found: list[Trace] = []
    if group is None:
        return ()
    for (table,) in connection.execute(TABLES).fetchall():
        columns = [name for (name,) in connection.execute(COLUMNS, (table,))]
        where = _OWNERS.get(table, "group_no = :group")
        # Names of tables come from the file's own schema.
        listed = ", ".join(f'"{name}"' for name in columns)
        rows = connection.execute(f'SELECT {listed} FROM "{table}" WHERE {where}', {"group": group})  # noqa: S608
        for row in rows:
            values = dict(zip(columns, row, strict=True))
            name = str(values.get("id") or values.get("episode_id") or values.get("no") or "")
            found += [
                Trace(table, name, column)
                for column, value in values.items()
                if isinstance(value, str) and stands_in(value, wanted)
            ]
    return tuple(found)
