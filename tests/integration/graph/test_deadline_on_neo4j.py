"""The deadline of a request ends its query in Neo4j, and does not wait for the database's own timeout."""

from __future__ import annotations

import asyncio
import uuid

import httpx

from pipeline.graph.neo4j.connection import Neo4jConnection
from pipeline.graph.neo4j.reader import Neo4jGraphReader
from pipeline.graph.search import Candidates, SearchPlan
from pipeline.observer import SilentObserver
from search_api.app import create_app
from search_api.settings import ApiSettings

LISTED = (
    "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH $mark RETURN count(*) AS running"
)


class EndlessReader(Neo4jGraphReader):
    """Its searches take minutes, and are recognised by a mark."""

    def __init__(self, connection: Neo4jConnection, mark: str) -> None:
        super().__init__(connection)
        self._own = connection
        self._mark = mark

    async def search(self, plan: SearchPlan) -> Candidates:
        numbers = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b RETURN sum(a * b) AS total"
        await self._own.run("search", f"{self._mark} {numbers}", {}, 300)
        raise AssertionError("the query came to its end")


async def test_a_query_past_its_deadline_is_ended_in_the_database(
    bolt_uri: str, connection: Neo4jConnection
) -> None:
    mark = f"/* {uuid.uuid4().hex} */"
    own = Neo4jConnection(bolt_uri, None, None, "neo4j", SilentObserver())
    app = create_app(ApiSettings(request_seconds=3), EndlessReader(own, mark))

    async def running() -> int:
        count: int = (await connection.run("list", LISTED, {"mark": mark}))[0]["running"]
        return count

    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://search") as client,
    ):
        body = {"query": "ana", "group_ids": ["g"]}
        asked = asyncio.create_task(client.post("/v1/search", json=body))
        seen = 0
        while not seen and not asked.done():
            seen = await running()
        assert seen == 1
        assert (await asked).status_code == 504
        async with asyncio.timeout(20):
            while await running():
                await asyncio.sleep(0.05)
        body = {"group_id": "g"}
        assert (await client.get("/v1/facts/none", params=body)).status_code == 404
