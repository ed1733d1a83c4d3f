"""All parameters of a query in one map."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import pipeline.graph.neo4j as package
from pipeline.graph.neo4j.connection import with_one_parameter

QUERIES = {
    f"{module.name}.{name}": text
    for module in pkgutil.iter_modules(package.__path__)
    if module.name.startswith("queries_")
    for name, text in vars(importlib.import_module(f"{package.__name__}.{module.name}")).items()
    if isinstance(text, str) and name.isupper()
}


def test_each_parameter_is_read_from_the_map() -> None:
    query = "MATCH (e {group_id: $group_id}) WHERE e.id IN $ids SET e:$(labels) RETURN e LIMIT $limit"
    assert with_one_parameter(query) == (
        "MATCH (e {group_id: $p.group_id}) WHERE e.id IN $p.ids SET e:$(labels) RETURN e LIMIT $p.limit"
    )


def test_there_are_queries() -> None:
    assert len(QUERIES) > 80


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_nothing_that_looks_like_a_parameter_stands_inside_a_text(name: str) -> None:
    for text in re.findall(r"'[^'\n]*'", QUERIES[name]):
        assert not re.search(r"\$\w", text)
