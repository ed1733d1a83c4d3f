"""Planning that outlives the request which began it."""

import asyncio

import pytest

from pipeline.errors import Retryable
from pipeline.graph.neo4j.planned import PlannedShapes
from pipeline.graph.neo4j.queries_conditions import SearchShape
from pipeline.graph.search import Method, Scope

SHAPE = SearchShape(legs=((Scope.facts, Method.bm25),))
OTHER = SearchShape(legs=((Scope.entities, Method.bm25),))


class Database:
    """Takes as long as it is let to plan; what is cut off is not planned."""

    def __init__(self):
        self.let = asyncio.Event()
        self.asked, self.plans, self.most, self.running = 0, 0, 0, 0

    async def ask(self):
        self.asked += 1
        await self.let.wait()
        return "answer"

    async def plan(self):
        self.running += 1
        self.most = max(self.most, self.running)
        self.plans += 1
        await self.let.wait()
        self.running -= 1


async def _cut_off(shapes, database, shape=SHAPE):
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await shapes.run(shape, database.ask, database.plan)


async def test_a_search_that_was_cut_off_is_planned_on_and_the_next_one_waits_for_that():
    shapes, database = PlannedShapes(), Database()
    await _cut_off(shapes, database)
    await _cut_off(shapes, database)
    assert (database.asked, database.plans) == (1, 1)
    waiting = asyncio.create_task(shapes.run(SHAPE, database.ask, database.plan))
    await asyncio.sleep(0)
    assert database.asked == 1
    database.let.set()
    assert await waiting == "answer"
    assert (database.asked, database.plans) == (2, 1)
    await shapes.close()


async def test_an_answered_shape_is_never_planned_again():
    shapes, database = PlannedShapes(), Database()
    database.let.set()
    assert await shapes.run(SHAPE, database.ask, database.plan) == "answer"
    database.let.clear()
    await _cut_off(shapes, database)
    assert database.plans == 0


async def test_shapes_are_planned_one_after_the_other_and_end_with_the_reader():
    shapes, database = PlannedShapes(), Database()
    await _cut_off(shapes, database)
    await _cut_off(shapes, database, OTHER)
    assert database.most == 1
    await shapes.close()
    assert database.plans == 1


async def test_an_outage_is_told_and_planning_begins_again_the_next_time(caplog):
    shapes = PlannedShapes()
    asked = []

    async def down():
        asked.append("down")
        raise Retryable("away")

    for times in (2, 4):
        with pytest.raises(Retryable):
            await shapes.run(SHAPE, down, down)
        await asyncio.sleep(0.01)
        assert len(asked) == times
    assert "away" in caplog.text
    await shapes.close()
