"""Reads one message or text: names, facts, and who is meant. Synchronous, pure apart from the language models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from pipeline.extraction.collected import Collected
from pipeline.extraction.local.facts.claim import Actor, Claim, Mode, Role
from pipeline.extraction.local.facts.dating import interval
from pipeline.extraction.local.facts.masked import PRIVATE
from pipeline.extraction.local.language import language_of
from pipeline.extraction.local.lines import Utterance, utterances
from pipeline.extraction.local.names.name import Name
from pipeline.extraction.local.people import People
from pipeline.extraction.local.sections import Budget, sections
from pipeline.extraction.local.tongues import Tongues
from pipeline.identity import entity_key
from pipeline.model.episode import Episode
from pipeline.model.extraction import Extraction, Statement, StatementKind

CONTEXT_EPISODES = 4
CONTEXT_CHARACTERS = 8_000
MAX_NAME = 120
_UNREADABLE = re.compile(r"[\ud800-\udfff\x00-\x08\x0b-\x1f\x7f]")
_OWNED = {"en": "{o}'s {t}", "es": "{t} de {o}", "zh": "{o}的{t}"}
_CEASED = {"en": "It is no longer true that {f}", "es": "Ya no es cierto que {f}", "zh": "已不再成立：{f}"}


class TextReader:
    """Reads messages and texts by rule."""

    def __init__(self, tongues: Tongues) -> None:
        self._tongues = tongues

    def read(self, episode: Episode, context: Sequence[Episode]) -> Extraction:
        """Mentions and statements of the episode; whatever its text is, this raises nothing."""
        out = Collected()
        people = People(lambda: self._people_of(context))
        budget = Budget()
        for utterance in utterances(episode):
            if utterance.speaker:
                assistant = episode.speaker is not None and episode.speaker.role not in (None, "user")
                out.mention(utterance.speaker[:MAX_NAME], None if assistant else "Person")
                people.speaks(utterance.speaker)
            self._utterance(episode, utterance, people, out, budget)
        return out.result()

    def _utterance(
        self, episode: Episode, said: Utterance, people: People, out: Collected, budget: Budget
    ) -> None:
        text = _readable(said.text)
        language = language_of(text)
        tongue = self._tongues.of(language)
        for section in sections(text, tongue, episode.reference_time, language, budget):
            claims = [(place, claim) for place, found in section.claims for claim in found]
            kinds = _kinds_from(claim for _, claim in claims)
            names = _standing(section.names, [claim for _, claim in claims])
            persons: list[Name] = []
            for name in names:
                kind = kinds.get(entity_key(name.text), name.kind)
                out.mention(name.text[:MAX_NAME], kind)
                if kind == "Person":
                    persons.append(name)
            named = 0
            for place, claim in claims:
                while named < len(persons) and persons[named].end <= place:
                    people.named(persons[named].text)
                    named += 1
                self._state(episode, said, claim, people, out, language)
            for name in persons[named:]:
                people.named(name.text)

    def _state(
        self, episode: Episode, said: Utterance, claim: Claim, people: People, out: Collected, language: str
    ) -> None:
        relation = claim.relation
        subject = _called(claim.subject, said, people, language)
        target = _called(claim.target, said, people, language) if claim.target else subject
        if subject is None or target is None or not _fits(claim):
            return
        if claim.target and entity_key(subject) == entity_key(target):
            return
        person = claim.subject.role is not Role.name
        source = out.mention(subject, "Person" if person else claim.subject.kind or relation.subject)
        end = (
            out.mention(target, relation.object or (claim.target.kind if claim.target else None))
            if claim.target
            else source
        )
        if source is None or end is None:
            return
        fact = _sentence(claim, language, subject, target)
        if claim.mode is Mode.ceases:
            fact = _CEASED[language].replace("{f}", fact)
        start, start_precision, stop, stop_precision = interval(claim, episode.reference_time)
        out.state(
            Statement(
                subject=source,
                relation=relation.name,
                object=end,
                fact=fact,
                kind=StatementKind.closes if claim.mode is Mode.ceases else StatementKind.asserts,
                valid_at=start,
                valid_at_precision=start_precision,
                invalid_at=stop,
                invalid_at_precision=stop_precision,
                cardinality=relation.cardinality,
            )
        )

    def _people_of(self, context: Sequence[Episode]) -> Iterator[str]:
        for episode in context[-CONTEXT_EPISODES:]:
            said = utterances(episode)
            speakers = {entity_key(u.speaker) for u in said if u.speaker}
            for utterance in said:
                text = _readable(utterance.text[:CONTEXT_CHARACTERS])
                names = self._tongues.of(language_of(text)).names(text, full=True)
                yield from (
                    n.text
                    for n in names
                    if n.kind == "Person" and n.strong and entity_key(n.text) not in speakers
                )


def _sentence(claim: Claim, language: str, subject: str, target: str) -> str:
    if claim.loop:
        return f"{subject}{claim.loop}" if language == "zh" else f"{subject} {claim.loop}"
    relation, form = claim.relation, claim.form
    if form:
        relation = replace(relation, en=form, es=form, zh=form)
    return relation.sentence(language, subject, _worded(claim.target, target))


def _worded(actor: Actor | None, name: str) -> str:
    return f"{actor.article} {name}" if actor and actor.article and actor.owner is None else name


def _standing(names: Sequence[Name], claims: Sequence[Claim]) -> list[Name]:
    """The names that are entities by themselves: not weak, and not a part of a longer thing that a fact is about."""
    actors = {a.text for c in claims for a in (c.subject, c.target) if a is not None and a.role is Role.name}
    parts = {word for text in actors if " " in text for word in text.split()}
    return [n for n in names if n.strong and (n.text in actors or n.text not in parts)]


def _readable(text: str) -> str:
    return PRIVATE.sub(" ", _UNREADABLE.sub(" ", text))


def _kinds_from(claims: Iterator[Claim]) -> dict[str, str]:
    """The types that relations give to the names at their ends."""
    kinds: dict[str, str] = {}
    for claim in claims:
        if not _fits(claim):
            continue
        for actor, kind in ((claim.subject, claim.relation.subject), (claim.target, claim.relation.object)):
            if actor is not None and actor.role is Role.name and actor.owner is None:
                kind = "Animal" if actor.kind == "Animal" else kind
                if kind:
                    kinds.setdefault(entity_key(actor.text), kind)
    return kinds


def _fits(claim: Claim) -> bool:
    """Whether the types of the names allow the relation: places do not work, nobody lives in a person."""
    relation = claim.relation
    subject, target = claim.subject.kind, claim.target.kind if claim.target else None
    if relation.subject == "Person" and subject in (
        "Organization",
        "Place",
        "Project",
        "Product",
        "Event",
        "Work",
    ):
        return False
    if relation.object in ("Place", "Organization") and target == "Person":
        return False
    if relation.name in ("IS_FROM", "BORN_IN", "LIVES_IN") and target == "Organization":
        return False
    if relation.name == "WORKS_AT" and target == "Place":
        return False
    return not (relation.object == "Person" and target in ("Organization", "Place"))


def _called(actor: Actor, said: Utterance, people: People, language: str) -> str | None:
    """The name under which an actor is known; None when nobody can say who is meant."""
    if actor.owner is not None:
        owner = _called(actor.owner, said, people, language)
        return _OWNED[language].replace("{t}", actor.text).replace("{o}", owner)[:MAX_NAME] if owner else None
    if actor.role is Role.speaker:
        return said.speaker[:MAX_NAME] if said.speaker else None
    if actor.role is Role.third:
        return people.meant_by(actor.text)
    return actor.text[:MAX_NAME] or None
