"""Two workers at once, one of which leaves under load: nothing lost, nothing twice, order kept."""

from __future__ import annotations

import uuid

import pytest

from pipeline.graph.digest import digest
from streams.broker import admin_client
from tests.integration.pipeline import story
from tests.integration.pipeline.outcome import check, check_statuses, told_outcome
from tests.integration.pipeline.running import running
from tests.integration.pipeline.waiting import until

pytestmark = pytest.mark.integration

GROUPS = 8


async def test_a_second_worker_joins_and_the_first_leaves_under_load(
    kafka_bootstrap: str, bolt_uri: str
) -> None:
    groups = [f"group-{uuid.uuid4().hex}" for _ in range(GROUPS)]
    rounds = list(zip(*map(story.story, groups), strict=True))
    async with running(kafka_bootstrap, bolt_uri) as installation, installation.worker() as first:

        async def members(expected: int) -> bool:
            async with admin_client(installation.bootstrap) as admin:
                (answer,) = await admin.describe_consumer_groups([installation.consumer_group])
            told = answer.groups[0]
            return told[2] == "Stable" and len(told[5]) == expected

        async def some_are_in() -> bool:
            return bool((await installation.dump(groups[0])).entities)

        for events in rounds[:3]:
            await installation.publish(events)
        await until(some_are_in)
        async with installation.worker() as second:
            for events in rounds[3:5]:
                await installation.publish(events)
            await until(lambda: members(2))
            for events in rounds[5:7]:
                await installation.publish(events)
            assert await first.stopped() == 0
            for events in rounds[7:]:
                await installation.publish(events)
            await installation.until_done(groups, story.EPISODES)
            exit_code = await second.stopped()
        outcome = await told_outcome(installation, groups, exit_code=exit_code)
    check(outcome)
    assert len({digest(dump) for dump in outcome.after_rebuild}) == 1
    check_statuses(outcome)
