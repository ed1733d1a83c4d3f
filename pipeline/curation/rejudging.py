"""The records of judges after a curation: what they say of entities must be so, and in words that are left. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from pipeline.graph.ledger import Ledger
from pipeline.model.entity import Entity
from pipeline.model.judgement import (
    JudgedEpisode,
    Judgement,
    MentionVerdict,
    Named,
    named_entity,
    named_mention,
)
from pipeline.model.provenance import Joined, Told

_Placed = Mapping[tuple[str, Named], tuple[str, Told]]


def rejudged(after: Ledger) -> dict[tuple[str, str], JudgedEpisode]:
    """The records as they are to be kept.

    A mention that no judge places any more (an operator has parted or moved it) was "none of them", so that a replay
    does not join it again; one that is placed at an entity of another name now is told by that.
    """
    placed = {
        (one.episode_id, named_mention(told.mention)): (one.entity_id, told)
        for one in after.contributions.values()
        for told in one.told
    }
    return {place: _record(record, placed, after.entities) for place, record in after.judged.items()}


def _record(record: JudgedEpisode, placed: _Placed, entities: Mapping[str, Entity]) -> JudgedEpisode:
    verdicts = tuple(_verdict(record.episode.id, verdict, placed, entities) for verdict in record.mentions)
    return record if verdicts == record.mentions else record.model_copy(update={"mentions": verdicts})


def _verdict(
    episode_id: str, verdict: MentionVerdict, placed: _Placed, entities: Mapping[str, Entity]
) -> MentionVerdict:
    if verdict.same is None:
        return verdict
    entity_id, told = placed.get((episode_id, verdict.mention), ("", None))
    entity = entities.get(entity_id)
    if told is None or entity is None or told.joined is not Joined.judge:
        return verdict.model_copy(update={"same": None, "judgement": Judgement()})
    stands = verdict.same.key in entity.keys and verdict.same.id in (None, entity.id)
    same = verdict.same if stands else named_entity(entity)
    return verdict.model_copy(update={"same": same, "judgement": told.judgement})
