"""Writes the tables of operations.md anew from what the code declares: python docs/tables.py"""

from __future__ import annotations

import re
from pathlib import Path

from factstream.settings import settings_table
from streams.metrics import CATALOGUE, PREFIX

PAGE = Path(__file__).with_name("operations.md")


def metrics_table() -> str:
    """The catalogue of worker and gateway as a Markdown table."""
    rows = ["| metric | type | unit | labels | meaning | when it looks wrong |", "|---|---|---|---|---|---|"]
    rows += [
        f"| `{PREFIX}{m.name}` | {m.kind} | {m.unit} | {', '.join(m.labels) or '–'} | {m.meaning} | {m.action} |"
        for m in CATALOGUE
    ]
    return "\n".join(rows)


def main() -> None:
    """Replaces what stands between the markers."""
    page = PAGE.read_text("utf-8")
    for name, table in (("settings", settings_table()), ("metrics", metrics_table())):
        block = f"<!-- {name}: begin -->\n{table}\n<!-- {name}: end -->"
        page = re.sub(f"<!-- {name}: begin -->.*<!-- {name}: end -->", lambda _, b=block: b, page, flags=re.S)
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
