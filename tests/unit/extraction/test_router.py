from __future__ import annotations

from collections.abc import Sequence

from pipeline.extraction.router import RoutingExtractor
from pipeline.model.episode import Episode, Source
from pipeline.model.extraction import Extraction, Mention
from tests.unit.extraction.conftest import episode


class Reader:
    async def extract(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        return Extraction(mentions=(Mention(name="read"),))


async def test_triples_are_read_as_they_stand_and_the_rest_by_the_reader() -> None:
    router = RoutingExtractor(Reader())
    triple = {"subject": {"name": "Ana"}, "relation": "KNOWS", "object": {"name": "Ben"}}
    assert [m.name for m in (await router.extract(episode([triple], Source.triples), ())).mentions] == [
        "Ana",
        "Ben",
    ]
    for source in (Source.message, Source.text, Source.json):
        assert [m.name for m in (await router.extract(episode("x", source), ())).mentions] == ["read"]
