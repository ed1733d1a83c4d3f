"""The few words that a context adds to what is stored, in the language of the question: English, Spanish or Chinese."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.text.analysis import terms
from pipeline.text.words import word_set

_HAN = re.compile("[\u3400-\u9fff\U00020000-\U0003ffff]")
_KANA_OR_HANGUL = re.compile("[\u3040-\u30ff\uac00-\ud7af]")
_SPANISH = word_set("""
    el la los las lo un una unos unas de del al en con por para sin que quien quienes cual cuando donde como cuanto
    es son era fue esta estan estaba hay ha han su sus mi mis se le les y o desde hasta sobre
""")
_ENGLISH = word_set("""
    the a an of in to at on for from with by and or what who whom which when where how why is are was were does did do
    has have had his her their my it that this about
""")


@dataclass(frozen=True)
class Labels:
    """Headings, and what stands for an end or a start that is not known, or before what was replaced."""

    facts: str
    entities: str
    communities: str
    episodes: str
    present: str
    unknown: str
    before: str


ENGLISH = Labels("Facts:", "Entities:", "Communities:", "Episodes:", "present", "unknown", "before:")
SPANISH = Labels("Hechos:", "Entidades:", "Comunidades:", "Episodios:", "presente", "desconocido", "antes:")
CHINESE = Labels("事实：", "实体：", "社区：", "片段：", "至今", "未知", "此前：")


def labels_for(question: str) -> Labels:
    """Those of the question's language; English where it is none of the others."""
    if _HAN.search(question) and not _KANA_OR_HANGUL.search(question):
        return CHINESE
    words = terms(question)
    spanish = sum(word in _SPANISH for word in words) + ("¿" in question or "¡" in question)
    return SPANISH if spanish > sum(word in _ENGLISH for word in words) else ENGLISH
