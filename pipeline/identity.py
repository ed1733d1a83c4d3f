"""Names to keys: when two spellings are the same name.

The key of a name is its NFKC form with format characters (zero-width and the like) removed, case folded,
whitespace collapsed, and whitespace dropped between Hangul syllables. Symbols and digits count: "SR-2023-052" and
"SR-2023-053" have different keys. Accents count too: "Müller" and "Muller" are candidates for a judge, not one key.
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
import uuid

_HANGUL_GAP = re.compile(r"(?<=[가-힣])\s+(?=[가-힣])")
_NAMESPACE = uuid.UUID("6f6f2f4c-7d1b-5a0e-9a55-0d2c6e1f7a11")


def entity_key(name: str) -> str:
    """The key under which a name is looked up; empty when the name has no visible character."""
    text = unicodedata.normalize("NFKC", name)
    text = "".join(c for c in text if unicodedata.category(c) != "Cf")
    # Case folding can leave a decomposed letter behind (as with "İ"), so it is normalised once more.
    text = unicodedata.normalize("NFKC", text.casefold())
    return _HANGUL_GAP.sub("", " ".join(text.split()))


def stable_id(*parts: str) -> str:
    """A UUID that depends only on the parts and their order; the same on every machine and in every replay."""
    return str(uuid.uuid5(_NAMESPACE, json.dumps(parts, ensure_ascii=False)))


def content_id(group_id: str, content: object, reference_time: str) -> str:
    """The id of an episode whose producer gave none: the same group, content and reference time give the same id."""
    text = json.dumps([group_id, content, reference_time], ensure_ascii=False, sort_keys=True)
    return "ep-" + hashlib.sha256(text.encode()).hexdigest()[:40]
