"""How long a text is in tokens, estimated without any model's tokenizer."""

from __future__ import annotations

import math
import re

_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


def token_weight(text: str) -> float:
    """Tokens of a text before rounding, so that weights of parts add up to the weight of the whole.

    One for each Han, Kana or Hangul character; a quarter for each UTF-8 byte of anything else.
    """
    unspaced = len(_UNSPACED.findall(text))
    others = len(_UNSPACED.sub("", text).encode("utf-8", "replace"))
    return unspaced + others / 4


def estimate_tokens(text: str) -> int:
    """Tokens of a text, rounded up."""
    return math.ceil(token_weight(text))
