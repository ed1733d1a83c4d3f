"""Taking back mentions of entities that a judge has put together."""

from __future__ import annotations

from pathlib import Path

from tests.contract.curation_kit import AlwaysSame
from tests.unit.curation.conftest import GROUP, story
from tests.unit.stages.conftest import triple


async def test_an_entity_that_lost_its_first_name_is_not_overwritten_by_the_next_one_of_that_name(
    tmp_path: Path,
) -> None:
    async with story(tmp_path, AlwaysSame()) as told:
        await told.tell(triple("Acme Corp", "MAKES", "Anvils", types=("Company", "Thing")))
        await told.tell(triple("Acme Corporation", "MAKES", "Rope", types=("Company", "Goods")))
        await told.tell(triple("Acme Corporation", "MAKES", "Glue", types=("Company", "Stuff")))
        before = await told.ledger()
        (acme,) = [e for e in before.entities.values() if e.type == "Company"]
        await told.operator.forget_episodes(GROUP, ["e1"])
        after = await told.ledger()
        (left,) = [e for e in after.entities.values() if e.type == "Company"]
        assert (left.name, left.aliases, left.keys) == ("Acme Corporation", (), ("acme corporation",))
        # The id was made of a name that is gone; the record of the join goes by the new one.
        assert left.id != acme.id
        assert {m.into for m in after.merges.values()} == {left.id}
        assert {f.target.name for f in after.facts.values() if f.source.id == left.id} == {"Rope", "Glue"}
    async with story(tmp_path) as told:
        await told.tell_as(
            4, [triple("Acme Corp", "MAKES", "Nails", types=("Company", "Hardware"))], "2024-01-01"
        )
        companies = [e for e in (await told.ledger()).entities.values() if e.type == "Company"]
        assert sorted(e.name for e in companies) == ["Acme Corp", "Acme Corporation"]


async def test_what_a_judge_joined_stays_joined_while_anything_is_left(tmp_path: Path) -> None:
    async with story(tmp_path, AlwaysSame()) as told:
        await told.tell(triple("Acme Corp", "MAKES", "Anvils", types=("Company", "Thing")))
        await told.tell(triple("Acme Corporation", "MAKES", "Rope", types=("Company", "Goods")))
        await told.tell(triple("Acme Corp", "MAKES", "Glue", types=("Company", "Stuff")))
        await told.operator.forget_episodes(GROUP, ["e1"])
        (left,) = [e for e in (await told.ledger()).entities.values() if e.type == "Company"]
        assert sorted((left.name, *left.aliases)) == ["Acme Corp", "Acme Corporation"]
        assert left.name == "Acme Corp"
