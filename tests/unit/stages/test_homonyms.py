"""Homonyms that come after an untyped name was given a type are entities of their own."""

from __future__ import annotations

from pipeline.model.entity import Entity
from tests.unit.stages.conftest import Line, triple


async def named_ana(line: Line) -> list[Entity]:
    ledger = await line.store.ledger("g")
    return sorted((e for e in ledger.entities.values() if "ana" in e.keys), key=lambda e: str(e.type))


async def test_a_later_untyped_homonym_does_not_overwrite_the_entity_that_was_untyped_once(
    line: Line,
) -> None:
    await line.say(triple("Ana", "KNOWS", "Bob"))
    await line.say(triple("Ana", "IN", "Peru", types=("Place", None)))
    await line.say(triple("Ana", "LIKES", "Tea", types=("Person", None)))
    # Two typed ones bear the name: whoever is meant now is neither of them.
    await line.say(triple("Ana", "SELLS", "Rum"))
    found = await named_ana(line)
    assert [e.type for e in found] == [None, "Person", "Place"]
    assert len({e.id for e in found}) == 3
    (untyped, person, place) = found
    assert untyped.summary == "Ana sells Rum."
    assert place.summary == "Ana knows Bob. Ana in Peru."
    assert person.summary == "Ana likes Tea."
