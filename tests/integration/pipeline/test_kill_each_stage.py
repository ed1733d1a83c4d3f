"""A worker that dies at any point of any stage, and is started again, leaves what an undisturbed one leaves.

| what dies | what is seen afterwards |
|---|---|
| before a commit | the event is read again and done |
| between a commit and its send | the event is read again, its mark is found, the kept output is sent |
| after a send | the event is read again and sent again; the next stage finds its own mark |
"""

from __future__ import annotations

import asyncio
import signal
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.graph.digest import digest, summary
from tests.integration.pipeline import story
from tests.integration.pipeline.crash_points import CRASHES
from tests.integration.pipeline.outcome import Outcome, check, check_statuses, told_outcome
from tests.integration.pipeline.running import Running, running

pytestmark = pytest.mark.integration

GROUPS = 3
AT_ONCE = 4
"""Installations that run side by side; each has a worker of its own."""

NAMED_CRASHES = [
    # An episode that says nothing ends with the first stage, so its status has no second chance.
    ("extract", "commit_extraction:after", 1, "quiet"),
    # Two changes, of which only the first is out: the close of the old value, or the new value, is not.
    ("resolve_facts", "commit_facts:after", 1, "e3"),
]
ALL = [(*crash, "") for crash in CRASHES] + NAMED_CRASHES
UNDISTURBED = ("none", "", 0, "")


@pytest.fixture(scope="module")
def outcomes(
    request: pytest.FixtureRequest, kafka_bootstrap: str, bolt_uri: str, tmp_path_factory: Any
) -> Callable[[Any], Outcome]:
    """The outcome of every crash that this run asks for, and of the undisturbed story; some at a time."""
    specs = [getattr(item, "callspec", None) for item in request.session.items if item.path == request.path]
    asked = {spec.params["crash"] for spec in specs if spec is not None}
    folder = tmp_path_factory.mktemp("markers")

    async def everything() -> dict[Any, Outcome | BaseException]:
        places = asyncio.Semaphore(AT_ONCE)

        async def one(crash: tuple[str, str, int, str]) -> Outcome:
            async with places, running(kafka_bootstrap, bolt_uri) as installation:
                return await told_again(installation, crash, folder)

        crashes = [UNDISTURBED, *sorted(asked)]
        found = await asyncio.gather(*map(one, crashes), return_exceptions=True)
        return dict(zip(crashes, found, strict=True))

    found = asyncio.run(everything())

    def outcome(crash: Any) -> Outcome:
        told = found[crash]
        if isinstance(told, BaseException):
            raise told
        return told

    return outcome


async def told_again(installation: Running, crash: tuple[str, str, int, str], folder: Path) -> Outcome:
    """Publish the story, let a worker die in the middle of it, start another, and wait until all is done."""
    groups = [f"group-{uuid.uuid4().hex}" for _ in range(GROUPS)]
    stories = [story.story(group) for group in groups]
    for events in zip(*stories, strict=True):
        await installation.publish(events)
    killed = False
    if crash != UNDISTURBED:
        _, point, occurrence, episode = crash
        marker = folder / uuid.uuid4().hex
        plan = {"point": point, "occurrence": occurrence, "marker": str(marker), "episode": episode}
        async with installation.worker(plan) as process:
            killed = await process.ended() == -signal.SIGKILL and marker.exists()
    async with installation.worker() as process:
        await installation.until_done(groups, story.EPISODES)
        exit_code = await process.stopped()
    return await told_outcome(installation, groups, killed=killed, exit_code=exit_code)


crashes = pytest.mark.parametrize(
    "crash", ALL, ids=lambda c: f"{c[0]}-{c[1]}" + (f"-of-{c[3]}" if c[3] else "")
)


def test_the_story_undisturbed(outcomes: Callable[[Any], Outcome]) -> None:
    check(outcomes(UNDISTURBED))
    assert len({digest(dump) for dump in outcomes(UNDISTURBED).after_rebuild}) == 1


def test_the_states_of_the_story_undisturbed(outcomes: Callable[[Any], Outcome]) -> None:
    check_statuses(outcomes(UNDISTURBED))


@crashes
def test_a_worker_that_dies_there_and_is_started_again_leaves_the_same(
    crash: tuple[str, str, int, str], outcomes: Callable[[Any], Outcome]
) -> None:
    outcome, undisturbed = outcomes(crash), outcomes(UNDISTURBED).after_rebuild[0]
    assert outcome.killed
    check(outcome)
    for dump in outcome.after_rebuild:
        assert summary(dump) == summary(undisturbed)
        assert digest(dump) == digest(undisturbed)


@crashes
def test_the_states_end_as_if_no_worker_had_died(
    crash: tuple[str, str, int, str], outcomes: Callable[[Any], Outcome]
) -> None:
    check_statuses(outcomes(crash))
