"""From what a model found to mentions and statements: grounded, dated, pointing at each other by index."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.extraction.model.answer import Found, FoundEntity, FoundFact
from pipeline.extraction.model.apart import apart
from pipeline.extraction.model.commands import speaks_to_machine, tells_an_ending
from pipeline.extraction.model.dating import DateChecker
from pipeline.extraction.model.grounding import Ground
from pipeline.extraction.model.prompt import Passage
from pipeline.identity import entity_key
from pipeline.model.extraction import Cardinality, Mention, Statement, StatementKind
from pipeline.observer import Observer
from pipeline.text.words import word_set

_GAP = re.compile(r"[^\w]+|_+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_SELF = word_set("i me my mine myself yo mí mi 我 本人 自己 speaker user hablante usuario 用户 说话人")
_PRONOUNS = word_set(
    """
    he she it they them him her we us you this that these those someone everyone él ella ellos ellas
    nosotros usted ustedes tú esto eso 他 她 它 他们 她们 我们 你 您 你们 这 那
    """
)
MAX_RELATION = 100
MAX_MENTIONS = 2_000


@dataclass(frozen=True)
class Assembled:
    """What stays of an answer. The first `speakers` mentions are the speakers'."""

    mentions: tuple[Mention, ...]
    statements: tuple[Statement, ...]
    speakers: int


class Assembler:
    """Puts together what was found in the passages of one episode.

    `record`: the content is JSON. `typed`: an ontology says which types there are.

    Dropped and counted: `ungrounded_entity`, `ungrounded_fact`, `fact_without_entity` (an end that is no entity, an
    index out of range), `instruction_ignored`. Also counted: `date_disagreement`, `date_supplied`.
    """

    def __init__(
        self,
        speakers: Sequence[str],
        roles: Sequence[str | None],
        observer: Observer,
        *,
        record: bool = False,
        typed: bool = False,
    ) -> None:
        self._observer = observer
        self._record = record
        self._index: dict[str, int] = {}
        self._mentions: list[Mention] = []
        self._statements: dict[tuple[object, ...], Statement] = {}
        self._speaker = entity_key(speakers[0]) if len(speakers) == 1 else ""
        for name, role in zip(speakers, roles, strict=True):
            # Always the same type, whatever a model calls a speaker today, or one person becomes two entities. An
            # assistant is no person, and an ontology has types of its own: there the type is left to the answer.
            left_open = typed or role in ("assistant", "system", "tool")
            self._mention(FoundEntity(name=name, type=None if left_open else "Person"))
        self._speakers = len(self._mentions)

    def add(self, passage: Passage, found: Found) -> None:
        """Take over what an answer says of a passage."""
        around = (*passage.context, *passage.speakers, passage.episode.source_description or "")
        ground = Ground(passage.text, around)
        checker = DateChecker(passage.text, passage.episode.reference_time)
        listed = [self._name(e.name) for e in found.entities]
        known: dict[str, FoundEntity] = {}
        for entity, name in zip(found.entities, listed, strict=True):
            key = entity_key(name or "")
            if name is None or not key:
                continue
            if not self._is_speaker(key) and not ground.has_name(name):
                self._observer.event("ungrounded_entity")
                continue
            if not self._is_speaker(key) and self._from_command(checker, name):
                continue
            if key not in known or (known[key].type is None and entity.type):
                known[key] = entity.model_copy(update={"name": name})
            if self._is_speaker(key) or ground.in_episode(name):
                self._mention(known[key])
        names = known.keys() | self._index.keys() | _SELF
        facts = [one for fact in found.facts for one in apart(fact, names)]
        places = [checker.sentence_of(fact) for fact in facts]
        # What one sentence says of several pairs is one fact.
        said = {(place, f.relation, f.fact or id(f)) for f, place in zip(facts, places, strict=True)}
        counts = Counter(place for place, *_ in said if place is not None)
        for fact, place in zip(facts, places, strict=True):
            ends = [
                self._end(text, listed, known, ground, checker)
                for text in (fact.subject, fact.object or fact.subject)
            ]
            if ends[0] is None or ends[1] is None:
                self._observer.event("fact_without_entity")
                continue
            self._fact(
                fact, ends[0], ends[1], ground, checker, place, alone=place is not None and counts[place] == 1
            )

    def result(self) -> Assembled:
        """Everything so far, in order of appearance."""
        return Assembled(tuple(self._mentions), tuple(self._statements.values()), self._speakers)

    def _fact(
        self,
        fact: FoundFact,
        subject: FoundEntity,
        target: FoundEntity,
        ground: Ground,
        checker: DateChecker,
        place: int | None,
        *,
        alone: bool,
    ) -> None:
        relation = relation_name(fact.relation)
        sentence = (
            fact.fact or f"{subject.name} {relation.replace('_', ' ').lower()} {fact.object or ''}".strip()
        )
        if not ground.has_sentence(f"{sentence} {subject.name} {target.name}"):
            self._observer.event("ungrounded_fact")
            return
        if self._commanded(fact, checker, place):
            self._observer.event("instruction_ignored")
            return
        dating = checker.date(fact, alone)
        if dating.agreement == "disagrees":
            self._observer.event("date_disagreement")
        elif dating.agreement == "supplied":
            self._observer.event("date_supplied")
        valid_at, valid_precision, invalid_at, invalid_precision = dating.interval
        indexes = (self._mention(subject), self._mention(target))
        if indexes[0] is None or indexes[1] is None:
            return
        statement = Statement(
            subject=indexes[0],
            relation=relation,
            object=indexes[1],
            fact=sentence,
            kind=StatementKind.closes if fact.status == "ended" else StatementKind.asserts,
            valid_at=valid_at,
            valid_at_precision=valid_precision,
            invalid_at=invalid_at,
            invalid_at_precision=invalid_precision,
            cardinality=Cardinality(fact.cardinality or "many"),
        )
        key = (statement.subject, relation, statement.object, statement.kind, valid_at, invalid_at)
        self._statements.setdefault(key, statement)

    def _end(
        self,
        text: str,
        listed: Sequence[str | None],
        known: dict[str, FoundEntity],
        ground: Ground,
        checker: DateChecker,
    ) -> FoundEntity | None:
        """The entity that an end of a fact names: by name, by its place in the list, or one that was not listed."""
        name = self._name(text)
        key = entity_key(name or "")
        if key in known:
            return known[key]
        if key in self._index:
            return FoundEntity(name=self._mentions[self._index[key]].name)
        if text.isascii() and text.isdigit() and int(text) < len(listed):
            return known.get(entity_key(listed[int(text)] or ""))
        if name is None or not key or text.isdigit() or not ground.has_name(name):
            return None
        return None if self._from_command(checker, name) else FoundEntity(name=name)

    def _name(self, text: str) -> str | None:
        """The name that is meant: the speaker's for "I", none for other pronouns."""
        key = entity_key(text)
        if key in _SELF and key not in self._index:
            return self._mentions[0].name if self._speaker else None
        return None if key in _PRONOUNS else " ".join(text.split())

    def _is_speaker(self, key: str) -> bool:
        return self._index.get(key, MAX_MENTIONS) < self._speakers

    def _from_command(self, checker: DateChecker, name: str) -> bool:
        """Whether every sentence that names it speaks to the machine."""
        naming = checker.sentences_naming(name)
        if naming and all(self._is_command(sentence) for sentence in naming):
            self._observer.event("instruction_ignored")
            return True
        return False

    def _commanded(self, fact: FoundFact, checker: DateChecker, place: int | None) -> bool:
        """Whether a fact comes from a sentence that speaks to the machine, or ends something on its behalf."""
        said = checker.sentence_text(place) if place is not None else ""
        if self._is_command(said):
            return True
        # Beside such a sentence, an ending needs words of its own.
        return (
            fact.status == "ended"
            and any(self._is_command(sentence) for sentence in checker.sentences)
            and not tells_an_ending(said)
        )

    def _is_command(self, sentence: str) -> bool:
        return speaks_to_machine(sentence, record=self._record)

    def _mention(self, entity: FoundEntity) -> int | None:
        key = entity_key(entity.name)
        if not key:
            return None
        attributes = {a.name: a.value for a in entity.attributes}
        index = self._index.get(key)
        if index is None:
            if len(self._mentions) >= MAX_MENTIONS:
                return None
            index = self._index[key] = len(self._mentions)
            kind = type_name(entity.type)
            self._mentions.append(
                Mention(name=entity.name, type=kind, summary=entity.summary, attributes=attributes)
            )
            return index
        held = self._mentions[index]
        self._mentions[index] = held.model_copy(
            update={
                "type": held.type or type_name(entity.type),
                "summary": held.summary or entity.summary,
                "attributes": {**held.attributes, **attributes},
            }
        )
        return index


def relation_name(text: str) -> str:
    """A relation in capitals with underscores: "works at", "worksAt" and "WORKS-AT" are WORKS_AT."""
    words = [word for word in _GAP.split(_CAMEL.sub(" ", text)) if word]
    return "_".join(words).upper()[:MAX_RELATION] or "RELATES_TO"


def type_name(text: str | None) -> str | None:
    """A type as one label: "software product" becomes SoftwareProduct; None for the generic ones."""
    words = [word for word in _GAP.split(text or "") if word]
    label = "".join(word[0].upper() + word[1:] for word in words)
    return None if entity_key(label) in ("", "entity", "thing", "other", "unknown", "null", "none") else label
