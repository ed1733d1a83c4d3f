"""English names: capitals and cue words first, spaCy's labels where these do not tell."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pipeline.extraction.local.english_model import EnglishModel
from pipeline.extraction.local.names.cues import EN
from pipeline.extraction.local.names.latin import LatinNames
from pipeline.extraction.local.names.name import Name

_TYPES = {
    "PERSON": "Person",
    "GPE": "Place",
    "LOC": "Place",
    "ORG": "Organization",
    "PRODUCT": "Product",
    "EVENT": "Event",
}


class EnglishNames:
    """Finds names in English. Where a name begins and ends is told by its capitals: the model is worse at that."""

    def __init__(self, model: EnglishModel) -> None:
        self._rules = LatinNames(EN)
        self._model = model

    def find(self, text: str, *, full: bool) -> list[Name]:
        """Names in order, not overlapping; `full`: with the model, if it is installed."""
        names = self._rules.find(text)
        document = self._model.parse(text) if full and names else None
        return names if document is None else [_informed(name, document) for name in names]


def _informed(name: Name, document: Any) -> Name:
    span = document.char_span(name.start, name.end, alignment_mode="expand")
    if span is None:
        return name
    kind = name.kind
    if kind is None:
        labels = {_TYPES.get(token.ent_type_) for token in span}
        kind = labels.pop() if len(labels) == 1 else None
        # Of a single unknown word the model only tells people with some success; places and firms it mixes up.
        if " " not in name.text and kind != "Person":
            kind = None
    strong = name.strong or (_proper(span) and not name.text.isupper())
    return replace(name, kind=kind, strong=strong, guessed=name.guessed or name.kind is None)


def _proper(tokens: Iterable[Any]) -> bool:
    return all(token.tag_ in ("NNP", "NNPS") for token in tokens)
