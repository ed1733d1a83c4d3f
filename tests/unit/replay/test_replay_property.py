"""Random histories with judges that throw a coin: told again in any order, they say what they said."""

from __future__ import annotations

import asyncio
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.replay.logged import logged
from tests.contract.conftest import open_sqlite
from tests.contract.replay_kit import NobodyToAsk, Stages, lived, random_history, recorded, said


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 8), st.randoms(use_true_random=False))
def test_a_replay_has_the_digest_and_the_record_of_what_was_lived(
    seed: int, length: int, chance: Random
) -> None:
    async def run() -> None:
        with TemporaryDirectory() as folder:
            graph = open_sqlite(Path(folder))
            await graph.store.open()
            await graph.reader.open()
            try:
                history = random_history(Random(seed), "g", length)
                await lived(graph, history, str(seed))
                before, record = await said(graph, "g"), await recorded(graph, "g")
                await graph.wipe("g")
                episodes = chance.sample(history.episodes, length)
                extracted = chance.sample(history.extracted, len(history.extracted))
                judged = chance.sample(history.judged, len(history.judged))
                again = Stages(graph.store, NobodyToAsk(), NobodyToAsk(), NobodyToAsk())
                done = await again.replay.run(logged(episodes, extracted), judged)
                assert await said(graph, "g") == before
                assert await recorded(graph, "g") == record
                assert (done.unrecorded, done.lost, done.episodes) == (0, 0, length)
            finally:
                await graph.reader.close()
                await graph.store.close()

    asyncio.run(run())
