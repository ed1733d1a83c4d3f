"""What plans the queries of the stages and of single records have.

`replan=skip` keeps a plan while the graph grows, whatever the counts were when it was made. That is safe only for a plan
that would be the right one at any size: every pattern begins at an index.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import neo4j
import pytest

from pipeline.graph.neo4j import (
    queries_communities,
    queries_entities,
    queries_episodes,
    queries_facts,
    queries_lane,
    queries_read,
)
from pipeline.graph.neo4j.connection import Neo4jConnection, with_one_parameter

KEPT = "CYPHER 25 replan=skip"
ALL = {
    f"{module.__name__.rsplit('.', 1)[1]}.{name}": text
    for module in (
        queries_lane,
        queries_episodes,
        queries_entities,
        queries_facts,
        queries_communities,
        queries_read,
    )
    for name, text in vars(module).items()
    if isinstance(text, str) and text.startswith(KEPT) and name != "HEAD"
}
SCANS = ("Scan", "UnionNodeByLabels", "NodeHashJoin", "ValueHashJoin")


def steps(plan: dict[str, Any]) -> Iterator[str]:
    """All operators of a plan, with what they work on."""
    yield f"{plan['operatorType']} {plan['args'].get('Details', '')}"
    for child in plan.get("children", ()):
        yield from steps(child)


@pytest.fixture
async def plan_of(bolt_uri: str, connection: Neo4jConnection) -> Any:
    """Plans a query anew, without running it."""
    async with neo4j.AsyncGraphDatabase.driver(bolt_uri, notifications_min_severity="OFF") as driver:

        async def planned(text: str) -> list[str]:
            async with driver.session() as session:
                result = await session.run(
                    with_one_parameter(text).replace(KEPT, "CYPHER 25 replan=force EXPLAIN", 1)
                )
                plan = (await result.consume()).plan
            assert plan is not None
            return list(steps(plan))

        yield planned


def test_every_query_of_a_stage_keeps_its_plan() -> None:
    assert len(ALL) > 30
    for name in ("queries_lane.BEGIN", "queries_facts.FACT_GRAPH", "queries_read.EPISODE"):
        assert name in ALL


@pytest.mark.parametrize("name", sorted(ALL))
async def test_a_kept_plan_begins_at_indexes(name: str, plan_of: Any) -> None:
    scans = [step for step in await plan_of(ALL[name]) if any(scan in step.split(" ")[0] for scan in SCANS)]
    assert not scans


async def test_facts_of_a_pair_are_not_looked_for_among_all_facts_of_one_of_them(plan_of: Any) -> None:
    """One of the pair may be a hub with a hundred thousand facts."""
    found = await plan_of(queries_facts.FACT_GRAPH)
    assert any(step.startswith("Expand(Into)") and "RELATES_TO" in step for step in found)
