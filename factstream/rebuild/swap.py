"""From a live graph and its shadow to the one commit that makes the first say what the second says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import orjson

from factstream.rebuild.parts import Options, Swapped, Tools
from factstream.rebuild.shadow import Shadow
from pipeline.curation.difference import Occurrence, difference, texts_to_embed
from pipeline.graph.community_port import CommunityWrite
from pipeline.graph.entity_port import EntityWrite
from pipeline.graph.fact_port import FactWrite
from pipeline.graph.ledger import (
    FENCED_STAGES,
    NOTICE,
    STAGES,
    CurationCommit,
    KnownEpisode,
    Ledger,
    Restored,
)
from pipeline.graph.vector import Vector
from pipeline.model.changes import FactChange
from pipeline.model.episode import FINAL_STATES, EpisodeState
from pipeline.model.judgement import JudgedEpisode
from pipeline.rebuild.replacing import changes_of, replaced
from pipeline.stages.extract import MAX_EMBEDDED_CHARACTERS
from pipeline.stages.resolve_facts import changes_as_output
from pipeline.timeline.reconcile import Occasion

UPDATE_COMMUNITIES = "update_communities"
NAME = "rebuild-"
"""How the notices of rebuilds begin."""
EMBEDDED_AT_ONCE = 256


@dataclass(frozen=True)
class Swap:
    """A commit, what is told when it is done, and what went wrong in the shadow.

    `dead` are episodes that could not be told again, `lost` those of them that the live graph has facts or entities
    of.
    """

    commit: CurationCommit
    swapped: Swapped
    changed: int
    dead: Mapping[str, str]
    lost: Mapping[str, str]
    notice: str | None


async def swap_of(
    live: Ledger,
    known: Mapping[str, KnownEpisode],
    shadow: Shadow,
    tools: Tools,
    options: Options,
    token: str,
) -> Swap:
    """The swap of a group at rest: `live` and `known` were read while it was held."""
    shadowed, now = await shadow.known(), tools.clock()
    told = await tools.log.told(live.group_id)
    after = replaced(live, await shadow.ledger(), told)
    name = NAME + token
    changes = tuple(changes_of(live, after, told, Occasion(live.group_id, name, now)))
    further = {i: k for i, k in shadowed.items() if _is_further(k, known.get(i))}
    settled = {
        i: k.state
        for i, k in further.items()
        if k.state is not None and (i not in known or known[i].state is not k.state)
    }
    judged = _otherwise(live, after)
    swapped = Swapped(live.group_id, name, changes, settled, judged)
    notice = None
    if tools.publish is not None and (changes or settled or judged):
        notice = _notice(swapped)
    occurrence = Occurrence(at=now, notice=None if notice is None else (name, notice))
    texts = texts_to_embed(
        replace(live, facts={}, entities={}, communities={}) if options.everything else live,
        after,
        occurrence,
    )
    vectors = await _embedded(texts, tools)
    commit = difference(live, after, vectors, occurrence)
    placed = {e.id: e.community_id for i, e in after.entities.items() if i not in live.entities}
    commit = replace(commit, moves={**commit.moves, **{i: c for i, c in placed.items() if c is not None}})
    changed = _size(commit)
    if options.everything:
        commit = _whole(commit, after, vectors)
    place = max((c.place for c in after.contributions.values()), default=-1) + 1
    dead = {i: k.reason or "" for i, k in shadowed.items() if k.state is EpisodeState.dead}
    return Swap(
        commit=replace(
            commit,
            judged=judged,
            restored=await _restored(further, known, shadow, tools),
            place=place,
            lease=token,
        ),
        swapped=swapped,
        changed=changed,
        dead=dead,
        lost={
            i: reason
            for i, reason in dead.items()
            if i in known
            and known[i].stages & set(FENCED_STAGES)
            and not shadowed[i].stages >= known[i].stages & set(FENCED_STAGES)
        },
        notice=notice,
    )


def unsent(ledger: Ledger) -> list[Swapped]:
    """What earlier rebuilds and curations of the group have not told."""
    found = []
    for (name, stage), text in sorted(ledger.outputs.items()):
        if stage == NOTICE and name.startswith(NAME):
            told = orjson.loads(text)
            changes = tuple(FactChange.model_validate(change) for change in told["changes"])
            settled = {i: EpisodeState(state) for i, state in told.get("settled", {}).items()}
            judged = {
                (episode, by): None if record is None else JudgedEpisode.model_validate(record)
                for episode, by, record in told.get("judged", ())
            }
            found.append(Swapped(ledger.group_id, name, changes, settled, judged))
    return found


def _notice(swapped: Swapped) -> str:
    """In the form in which curations keep theirs, with the states beside."""
    told = orjson.loads(changes_as_output(swapped.changes, ()))
    judged = [
        (*place, None if record is None else record.model_dump(mode="json"))
        for place, record in swapped.judged.items()
    ]
    more = {"forgotten": [], "settled": dict(swapped.settled), "judged": judged}
    return orjson.dumps({**told, **more}).decode()


def _otherwise(live: Ledger, after: Ledger) -> dict[tuple[str, str], JudgedEpisode | None]:
    """Records of judges that differ."""
    changed = {place: record for place, record in after.judged.items() if live.judged.get(place) != record}
    return {**dict.fromkeys(live.judged.keys() - after.judged.keys()), **changed}


def _is_further(shadowed: KnownEpisode, known: KnownEpisode | None) -> bool:
    """Whether the shadow has come further with an episode than the live graph, or to another end."""
    if shadowed.state not in FINAL_STATES:
        return False
    if known is None or known.state is None:
        return True
    # A stage that has nothing to do leaves no mark; that of the communities is not missed.
    return known.state is not shadowed.state or not shadowed.stages <= known.stages


def _stages(shadowed: KnownEpisode) -> tuple[str, ...]:
    """The stages that the episode is through. The communities were drawn for all at once."""
    done = set(shadowed.stages)
    if shadowed.state is EpisodeState.committed:
        done.add(UPDATE_COMMUNITIES)
    return tuple(stage for stage in STAGES if stage in done)


async def _restored(
    further: Mapping[str, KnownEpisode],
    known: Mapping[str, KnownEpisode],
    shadow: Shadow,
    tools: Tools,
) -> tuple[Restored, ...]:
    if not further:
        return ()
    raw = await shadow.store.raw_episodes(shadow.group_id, sorted(further))
    absent = [e for e in raw if e.id not in known or known[e.id].state is None]
    vectors = await _embedded([e.text for e in absent], tools)
    restored = []
    for episode in raw:
        one = further[episode.id]
        if one.state is None or one.created_at is None:
            continue
        restored.append(
            Restored(
                episode=episode,
                state=one.state,
                stages=_stages(one),
                usage=one.usage,
                created_at=one.created_at,
                vector=vectors.get(episode.text),
                reason=one.reason,
            )
        )
    return tuple(restored)


def _whole(commit: CurationCommit, after: Ledger, vectors: Mapping[str, Vector]) -> CurationCommit:
    """The commit that writes everything again."""
    return replace(
        commit,
        entities=tuple(EntityWrite(e, vectors[e.name]) for e in after.entities.values()),
        contributions=tuple(after.contributions.values()),
        evidence=tuple(after.evidence.values()),
        facts=tuple(FactWrite(f, vectors[f.fact]) for f in after.facts.values()),
        communities=tuple(
            CommunityWrite(c, vectors[f"{c.name}: {c.summary}"]) for c in after.communities.values()
        ),
        moves={e.id: e.community_id for e in after.entities.values()},
    )


async def _embedded(texts: Sequence[str], tools: Tools) -> dict[str, Vector]:
    distinct = list(dict.fromkeys(texts))
    vectors: dict[str, Vector] = {}
    for start in range(0, len(distinct), EMBEDDED_AT_ONCE):
        some = distinct[start : start + EMBEDDED_AT_ONCE]
        found = await tools.embedder.embed([text[:MAX_EMBEDDED_CHARACTERS] for text in some])
        vectors |= dict(zip(some, found, strict=True))
    return vectors


def _size(commit: CurationCommit) -> int:
    written = (commit.entities, commit.evidence, commit.facts, commit.contributions, commit.communities)
    gone = (commit.removed_entities, commit.removed_evidence, commit.removed_facts, commit.removed_mentions)
    return sum(map(len, written)) + sum(map(len, gone))
