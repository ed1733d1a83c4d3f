"""Every occurrence that the pipeline counts stands in the documentation, and none that it does not count."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[3]
TABLE = re.compile("<!-- occurrences: begin -->(.*)<!-- occurrences: end -->", re.S)


def counted() -> Iterator[str]:
    """The literal names that are given to an observer's `event`."""
    for path in (ROOT / "pipeline").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr == "event"
            ):
                told = node.args[0] if node.args else None
                if isinstance(told, ast.Constant) and isinstance(told.value, str):
                    yield told.value


def test_the_table_names_what_is_counted() -> None:
    found = TABLE.search((ROOT / "docs/operations.md").read_text("utf-8"))
    assert found
    listed = {
        name
        for row in found[1].splitlines()
        for name in re.findall("`([a-z_]+)`", row.split("|")[1] if "|" in row else "")
    }
    names = set(counted())
    assert names <= listed
    computed = {f"reflexion_{kind}" for kind in ("name", "number", "date", "change")}
    computed |= {"off_ontology_relation", "off_signature"}
    assert listed - names == computed
