"""A cheap look for what a reading may have left out: names, numbers, dates and verbs of change. Pure.

It decides whether a model is asked a second time, and why. It must be quiet about what is covered: a needless second
question doubles the price of an episode.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pipeline.extraction.local.sentences import sentences
from pipeline.text.analysis import fold, terms
from pipeline.text.words import word_set
from pipeline.timeline.dates import DateSpan, resolve

Kind = Literal["name", "number", "date", "change"]
MAX_LEADS = 8
MAX_SCANNED = 20_000

_NAME = re.compile(
    r"(?<![\w@./#-])[A-ZÀ-Þ][\w'’&.-]*(?:\s+(?:(?:de|del|la|van|von|of|the)\s+)?[A-ZÀ-Þ][\w'’&.-]*)*"
)
_QUOTED = re.compile(r"[《「『“\"]([^《》「」『』“”\"\n]{2,40})[》」』”\"]")
_NUMBER = re.compile(r"(?<![\w.,/:-])[$€£¥]?\d[\d.,]*(?:%|[a-zA-Z]{1,3}\b)?(?![\w/:-])")
_CHANGE = re.compile(
    r"\b(?:joined|moved|left|quit|bought|sold|hired|fired|married|divorced|started|stopped|switched|changed|cancelled|"
    r"canceled|founded|acquired|promoted|resigned|retired|graduated|adopted|upgraded|downgraded|renamed|closed|opened|"
    r"mud[óé]|mudamos|dej[óé]|compr[óé]|vend[íi]ó?|cas[óé]|divorci[óé]|empec[ée]|empez[óé]|cambi[óé]|cancel[óé]|fund[óé]|"
    r"contrat[óé]|renunci[óé]|jubil[óé]|gradu[óé])\b|(?:加入|搬到|搬家|搬去|离开|辞职|买了|卖了|结婚|离婚|开始|停止|换成|改为|取消|"
    r"创立|收购|升职|退休|毕业)",
    re.I,
)
_COMMON = word_set(
    """
    i i'm i've i'll i'd we you he she it they the a an this that these those my our your his her its
    their and but so if when then there here yes no ok okay thanks hi hello hey please sorry today
    tomorrow yesterday monday tuesday wednesday thursday friday saturday sunday january february march
    april may june july august september october november december what who where why how which is are
    was do does did can could would should will just also not now el la los las un una yo él ella mi tu
    su nosotros ellos hola gracias sí hoy ayer mañana enero febrero marzo abril mayo junio julio agosto
    septiembre octubre noviembre diciembre lunes martes miércoles jueves viernes sábado domingo pero y
    si cuando qué quién dónde me te se en de por para con user assistant system tool mr mrs ms dr sr sra
    dear sincerely regards subject re fwd
    """
)


@dataclass(frozen=True)
class Lead:
    """Something in the text that the answer covers with nothing."""

    kind: Kind
    text: str
    sentence: str

    @property
    def reason(self) -> str:
        """The lead in words, for the second question."""
        return f'{self.kind} "{self.text}" in: {self.sentence[:200]}'


@dataclass(frozen=True)
class Covered:
    """What an answer covers: all its words, the sentences of its facts, and whether any date was given."""

    words: str
    facts: Sequence[str]
    dated: bool


def leads(text: str, covered: Covered, reference_time: datetime) -> list[Lead]:
    """At most `MAX_LEADS` leads, in order. Sentences that ask or only greet give none."""
    known = frozenset(terms(covered.words))
    flat = "".join(fold(covered.words).split())
    fact_terms = [frozenset(terms(fact)) for fact in covered.facts]
    found: dict[tuple[Kind, str], Lead] = {}
    for start, end in sentences(text[:MAX_SCANNED]):
        sentence = text[start:end]
        if sentence.rstrip().endswith(("?", "？")):
            continue
        dates = resolve(sentence, reference_time)
        told = _is_told(sentence, fact_terms)
        for name in _names(sentence):
            if not _has(name, known, flat):
                found.setdefault(("name", name), Lead("name", name, sentence))
        for number in _numbers(sentence, dates):
            if not _has(number, known, flat):
                found.setdefault(("number", number), Lead("number", number, sentence))
        if dates and not told and not covered.dated:
            found.setdefault(("date", dates[0].text), Lead("date", dates[0].text, sentence))
        change = _CHANGE.search(sentence)
        if change and not told:
            found.setdefault(("change", change.group()), Lead("change", change.group(), sentence))
    return list(found.values())[:MAX_LEADS]


def _names(sentence: str) -> Iterable[str]:
    for match in _NAME.finditer(sentence):
        words = match.group().strip(".'’-&").split()
        at_start = match.start() == 0 or sentence[: match.start()].rstrip()[-1:] in (
            ":",
            "：",
            '"',
            "“",
            "¿",
            "¡",
        )
        while words and (words[0].casefold().rstrip(".") in _COMMON):
            words = words[1:]
            at_start = False
        # The first word of a sentence is capital for its own sake; with a second one it is a name.
        if words and not (at_start and len(words) == 1):
            yield " ".join(words)
    for match in _QUOTED.finditer(sentence):
        if re.search("[\u3400-\u9fff]", match.group(1)) and len(match.group(1)) <= 12:
            yield match.group(1)


def _numbers(sentence: str, dates: Sequence[DateSpan]) -> Iterable[str]:
    for match in _NUMBER.finditer(sentence):
        number = match.group().rstrip(".,")
        inside_date = any(span.begin <= match.start() < span.stop for span in dates)
        if not inside_date and len(re.sub(r"\D", "", number)) >= 2:
            yield number


def _has(words: str, known: frozenset[str], flat: str) -> bool:
    return any(term in known for term in terms(words)) or "".join(fold(words).split()) in flat


def _is_told(sentence: str, fact_terms: Sequence[frozenset[str]]) -> bool:
    """Whether some fact was taken from a sentence: two of the fact's words, or half of them, stand in it."""
    own = frozenset(terms(sentence))
    return any(len(own & fact) >= min(2, max(1, len(fact) // 2)) for fact in fact_terms)
