"""How many tokens a text has, roughly: for rate limits, and for endpoints that do not report their usage. Pure."""

from __future__ import annotations

import re

_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
CHARACTERS_PER_TOKEN = 4


def estimate(text: str) -> int:
    """About four letters a token, one token for each Han, Kana or Hangul character."""
    unspaced = len(_UNSPACED.findall(text))
    return unspaced + -(-(len(text) - unspaced) // CHARACTERS_PER_TOKEN)
