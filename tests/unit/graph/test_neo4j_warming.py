"""Planning ahead: when the reader counts as ready."""

import asyncio

import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.search_params import params_of, shape_of
from pipeline.graph.neo4j.warming import FIRST, Warming, common_plans
from pipeline.graph.search import Scope

PLANS = common_plans(8)


class Searches:
    """Searches that end when they are let."""

    def __init__(self):
        self.asked = []
        self.let = asyncio.Semaphore(0)

    async def __call__(self, plan):
        self.asked.append(plan)
        await self.let.acquire()


async def _settled():
    for _ in range(20):
        await asyncio.sleep(0)


async def test_it_is_ready_after_the_first_ones_and_goes_on():
    searches, warming = Searches(), Warming()
    warming.check()
    warming.start(PLANS, searches)
    for _ in range(FIRST):
        with pytest.raises(Retryable, match="planning"):
            warming.check()
        searches.let.release()
        await _settled()
    warming.check()
    assert len(searches.asked) == FIRST + 1
    warming.start(PLANS, searches)
    await _settled()
    assert len(searches.asked) == FIRST + 1
    await warming.stop()


async def test_a_search_that_fails_ends_it_and_keeps_nobody_waiting(caplog):
    async def fails(plan):
        raise Retryable("down")

    warming = Warming()
    warming.start(PLANS, fails)
    await _settled()
    warming.check()
    assert "down" in caplog.text


async def test_the_plans_have_every_leg_that_a_request_can_have():
    shapes = [shape_of(plan) for plan in PLANS]
    assert len(set(shapes)) == len(PLANS)
    assert {shape.scopes for shape in shapes} == {(Scope.facts,), tuple(Scope)}
    assert any(shape.neighbours and shape.sources for shape in shapes[:FIRST])
    for plan, shape in zip(PLANS, shapes, strict=True):
        assert len(params_of(plan, shape, plan.as_of)["vector"]) == 8 if plan.as_of else True
