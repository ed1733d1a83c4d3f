"""After forgetting, the bytes of the file hold no trace, not even where rows were deleted."""

from __future__ import annotations

from pipeline.model.provenance import Correction
from tests.unit.curation.conftest import GROUP, Story
from tests.unit.stages.conftest import triple

CANARY = "zanzibarcanary"


async def test_the_file_itself_holds_no_word_of_what_was_forgotten(told: Story) -> None:
    await told.tell(triple("Ana", "LIVES_IN", "Lima", cardinality="one"))
    await told.tell(triple("Ana", "LIVES_IN", CANARY, cardinality="one"), at="2024-02-01")
    await told.tell(triple("Bob", "KNOWS", "Ana"), at="2024-03-01")
    assert CANARY in in_file(told)
    done = await told.operator.forget_episodes(GROUP, ["e2"])
    await told.operator.sent(done)
    # The reader lets go of its snapshot first: a log that is being read cannot be cut off.
    await told.line.reader.close()
    await told.operator.correct_entity(GROUP, await named(told, "Bob"), Correction(name="Robert"))
    assert CANARY not in in_file(told)
    assert "lima" in in_file(told)


def in_file(story: Story) -> str:
    files = sorted(story.path.parent.glob("graph.db*"))
    return b"".join(path.read_bytes() for path in files).decode("latin-1").lower()


async def named(story: Story, name: str) -> str:
    return next(e.id for e in (await story.ledger()).entities.values() if e.name == name)
