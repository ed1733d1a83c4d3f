"""The digest sees all that an episode can cause, and nothing else."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from pipeline.graph.digest import GroupDump, digest, summary
from pipeline.graph.search import StoredEpisode
from pipeline.model.entity import Entity
from pipeline.model.episode import EpisodeState, Usage
from pipeline.model.fact import Belief, EntityRef, Fact, Support
from tests.episodes import text

NOW = datetime(2024, 5, 1, tzinfo=UTC)


def dump(prefix: str = "a", known_from: datetime = NOW, **changed: Any) -> GroupDump:
    """Two people, one fact, one community; ids begin with `prefix`."""
    ana, ben = (
        Entity(id=f"{prefix}{n}", group_id=prefix, name=n, type="Person", created_at=known_from)
        for n in ("Ana", "Ben")
    )
    fact = Fact(
        id=f"{prefix}f",
        group_id=prefix,
        source=EntityRef(id=ana.id, name="Ana"),
        target=EntityRef(id=ben.id, name="Ben"),
        relation="KNOWS",
        fact="Ana knows Ben",
        beliefs=(Belief(known_from=known_from, valid_at=NOW),),
        support=(Support(episode_id="e1", evidence_id=f"{prefix}v", known_from=known_from),),
    )
    episode = text("Ana knows Ben", id="e1", group_id=prefix)
    stored = StoredEpisode(
        episode=episode, state=EpisodeState.committed, usage=Usage(), created_at=known_from, reason=None
    )
    made = GroupDump(
        group_id=prefix,
        episodes=(stored,),
        entities=(ana, ben),
        facts=(fact,),
        evidence=(),
        mentions=(("e1", ana.id), ("e1", ben.id)),
        memberships=((f"{prefix}c", ana.id), (f"{prefix}c", ben.id)),
    )
    return replace(made, **changed)


def test_ids_groups_system_times_and_the_order_of_rows_do_not_count():
    one, other = dump("a"), dump("b", NOW + timedelta(days=3))
    turned = replace(other, entities=other.entities[::-1], memberships=other.memberships[::-1])
    assert summary(one) == summary(turned)
    assert digest(one) == digest(turned)
    assert len(digest(one)) == 64


def _fact(**changed: Any) -> dict[str, Any]:
    return {"facts": (dump().facts[0].model_copy(update=changed),)}


def _belief(**changed: Any) -> dict[str, Any]:
    return _fact(beliefs=(dump().facts[0].beliefs[0].model_copy(update=changed),))


@pytest.mark.parametrize(
    "changed",
    [
        {"episodes": (replace(dump().episodes[0], state=EpisodeState.dead),)},
        {"episodes": ()},
        {"episodes": dump().episodes * 2},
        {"entities": (dump().entities[0], dump().entities[1].model_copy(update={"attributes": {"a": 1}}))},
        {"entities": (dump().entities[0], dump().entities[1].model_copy(update={"aliases": ("Benno",)}))},
        {"facts": dump().facts * 2},
        _fact(fact="Ana has met Ben"),
        _fact(cardinality="one"),
        _fact(attributes={"since": 2019}),
        _fact(support=()),
        _belief(invalid_at=NOW + timedelta(days=1)),
        _belief(valid_at_precision="day"),
        _belief(holds=False),
        {"memberships": dump().memberships[:1]},
        {"memberships": (("ac", "aAna"), ("ad", "aBen"))},
    ],
)
def test_every_difference_that_matters_counts(changed: dict[str, Any]):
    assert digest(dump(**changed)) != digest(dump())


def test_a_fact_that_is_believed_at_no_time_does_not_count():
    gone = (
        dump()
        .facts[0]
        .model_copy(
            update={"id": "x", "relation": "LIKES", "beliefs": (Belief(known_from=NOW, holds=False),)}
        )
    )
    assert digest(dump(facts=(*dump().facts, gone))) == digest(dump())
