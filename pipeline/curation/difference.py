"""From two ledgers to the one commit that makes the second out of the first. Pure, but for the vectors it is given."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.ledger import CurationCommit, Ledger
from pipeline.graph.vector import Vector
from pipeline.model.entity import Entity
from pipeline.model.episode import Episode
from pipeline.model.fact import Fact
from pipeline.model.judgement import JudgedEpisode

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True)
class Occurrence:
    """What a commit carries beside the difference: see CurationCommit."""

    at: datetime
    added: tuple[Episode, ...] = ()
    forgotten: tuple[str, ...] = ()
    notice: tuple[str, str] | None = None


def texts_to_embed(before: Ledger, after: Ledger, occurrence: Occurrence) -> list[str]:
    """What needs a new vector: sentences, names and summaries that are new or changed, texts of new episodes."""
    texts = [_sentence(f) for f in after.facts.values() if _new_sentence(before.facts.get(f.id), f)]
    texts += [e.name for e in after.entities.values() if _new_name(before.entities.get(e.id), e)]
    texts += [
        f"{c.name}: {c.summary}" for i, c in after.communities.items() if before.communities.get(i) != c
    ]
    return list(dict.fromkeys([*texts, *(e.text for e in occurrence.added)]))


def difference(
    before: Ledger, after: Ledger, vectors: Mapping[str, Vector], occurrence: Occurrence
) -> CurationCommit:
    """The commit. A fact whose ends changed is removed and written anew; what did not change is not in it."""
    rehung = {
        f.id
        for f in changed(before.facts, after.facts)
        if f.id in before.facts and _ends(before.facts[f.id]) != _ends(f)
    }
    return CurationCommit(
        group_id=before.group_id,
        lanes=before.lanes,
        at=occurrence.at,
        added=tuple((e, vectors.get(e.text)) for e in occurrence.added),
        forgotten=occurrence.forgotten,
        removed_mentions=tuple(removed(before.contributions, after.contributions)),
        removed_evidence=tuple(removed(before.evidence, after.evidence)),
        removed_facts=tuple(sorted({*removed(before.facts, after.facts), *rehung})),
        removed_entities=tuple(removed(before.entities, after.entities)),
        removed_merges=tuple(removed(before.merges, after.merges)),
        entities=tuple(
            EntityWrite(e, vectors[e.name] if _new_name(before.entities.get(e.id), e) else None)
            for e in changed(before.entities, after.entities)
        ),
        contributions=tuple(changed(before.contributions, after.contributions)),
        evidence=tuple(changed(before.evidence, after.evidence)),
        facts=tuple(
            FactWrite(f, vectors[_sentence(f)] if _new_sentence(before.facts.get(f.id), f) else None)
            for f in changed(before.facts, after.facts)
        ),
        communities=tuple(
            CommunityWrite(c, vectors[f"{c.name}: {c.summary}"])
            for c in changed(before.communities, after.communities)
        ),
        moves={
            e.id: e.community_id
            for e in after.entities.values()
            if e.id in before.entities and before.entities[e.id].community_id != e.community_id
        },
        merges=tuple(changed(before.merges, after.merges)),
        outputs={k: text for k, text in after.outputs.items() if before.outputs.get(k) != text},
        judged=changed_records(before, after),
        notice=occurrence.notice,
    )


def changed_records(before: Ledger, after: Ledger) -> dict[tuple[str, str], JudgedEpisode | None]:
    """Records of judges that are new or not as they were; None for those that are gone."""
    gone: dict[tuple[str, str], JudgedEpisode | None] = dict.fromkeys(removed(before.judged, after.judged))
    return gone | {k: record for k, record in after.judged.items() if before.judged.get(k) != record}


def removed(before: Mapping[K, object], after: Collection[K]) -> list[K]:
    """What is no longer there."""
    return [key for key in before if key not in after]


def changed(before: Mapping[K, V], after: Mapping[K, V]) -> Iterable[V]:
    """What is new or not as it was."""
    return [value for key, value in after.items() if before.get(key) != value]


def _new_name(before: Entity | None, after: Entity) -> bool:
    return before is None or before.name != after.name


def _new_sentence(before: Fact | None, after: Fact) -> bool:
    return before is None or before.fact != after.fact or _ends(before) != _ends(after)


def _sentence(fact: Fact) -> str:
    return fact.fact


def _ends(fact: Fact) -> tuple[str, str]:
    return (fact.source.id, fact.target.id)
