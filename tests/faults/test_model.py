"""The model on its bad days: gone, overloaded, broken, talking nonsense, hanging, answering what cannot be used."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from streams.dead_letter import DeadFilter, DeadLetter
from streams.dead_reader import read_dead_letters, replay
from tests.faults.ground import Ground
from tests.faults.judging import judged
from tests.faults.load import Sent, histories, slices
from tests.faults.scale import Scale
from tests.faults.site import Site, site
from tests.model_server import Drop, Hang, Raw, Status

TROUBLES: list[tuple[str, Sequence[Any]]] = [
    ("gone", ()),
    ("429", (Status(429, retry_after=1), Status(429))),
    ("500", (Status(500), Status(503), Status(529))),
    (
        "garbage",
        (Raw("<html>Bad gateway</html>"), Raw("{"), Drop(), Drop(midway=True), Raw('{"error": "no"}')),
    ),
    ("hanging", (Hang(60.0),)),
]


async def troubled(made: Site, kind: str, answers: Sequence[Any], part: list[Sent], seconds: float) -> None:
    """Episodes come in while the endpoint has trouble; then it is well again."""
    if kind == "gone":
        await made.model.stop()
    elif answers:
        turns = iter(list(answers) * 100_000)
        made.model.on(lambda _: next(turns))
    await made.tell(part)
    await asyncio.sleep(seconds)
    if kind == "gone":
        await made.model.start(made.model.port)
    made.model.clear()


async def unusable(made: Site, part: list[Sent]) -> list[DeadLetter]:
    """The model answers, but nothing that can be read: the dead letters of the episodes that it was asked about."""
    made.model.on("I would rather write a poem.", purpose="extract")
    await made.tell(part)
    await made.until_all_done()
    made.model.clear()
    letters = [
        letter async for letter in read_dead_letters(made.bootstrap, made.prefix, DeadFilter(stage="extract"))
    ]
    return [letter for letter in letters if "no usable answer" in letter.letter["error"]]


async def test_the_model_on_its_bad_days(scale: Scale, servers: Ground, expected: Any, report: Any) -> None:
    wanted = await expected(scale.events)
    async with report("model gone, 429, 500, garbage, hanging, unusable") as r, site(servers) as made:
        made.settings["model_timeout"] = 3.0
        groups = made.groups(scale.groups)
        parts = list(slices(histories(groups, scale.events), len(TROUBLES) + 1))
        async with made.worker() as worker:
            for (kind, answers), part in zip(TROUBLES, parts[:-1], strict=True):
                seconds = scale.outage if kind == "gone" else scale.outage / 4
                await troubled(made, kind, answers, part, seconds)
            await made.until_all_done()
            letters = await unusable(made, parts[-1])
            for letter in letters:
                await replay(letter, made.producer)
            await made.until_all_done()
            assert await worker.stopped() == 0
        r.rounds, r.faults = len(parts), len(parts)
        r.note = f"{len(letters)} replayed"
        assert letters, "no episode was asked about"
        await judged(
            r, made, groups, wanted, replayed=frozenset(str(letter.episode_id) for letter in letters)
        )
