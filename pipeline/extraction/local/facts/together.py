"""Subjects that stand together before one verb ("Ana, Luis y Mei fundaron …", "王丽和李明在…工作"). Pure.

Patterns see the name next to the verb; what they say of it is said of the others too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.extraction.local.facts.claim import Actor, Claim, Role
from pipeline.extraction.local.facts.masked import Masked, N

MAX_TOGETHER = 12

# In Spanish the verb tells that there are several: the word after the names, or the one after a helper, ends in -n.
SPANISH = re.compile(
    rf"(?P<all>{N}(?:, {N})*,? (?:y|e) {N})(?= (?:(?:ya|no|también|se|ambos|ambas) )*\w+n\b)"
)
# In English and Chinese it does not, so the names must be the first words of the sentence or of a part of it.
ENGLISH = re.compile(rf"^\W*(?P<all>{N}(?:, {N})*,? (?:and|&) {N})(?= [a-z])")
CHINESE = re.compile(rf"(?:^|(?<=[，。；,;：:]))\s*(?P<all>{N}(?:[、，]{N})*(?:和|与|跟|及|以及){N})(?!的)")
_NAME = re.compile(N)


def of_all(found: Sequence[Claim], masked: Masked, together: re.Pattern[str]) -> list[Claim]:
    """The claims, those about the last of several names that stand together for each of the others as well."""
    made = list(found)
    for match in together.finditer(masked.text):
        names = [masked.name(c) for c in _NAME.findall(match["all"])[-MAX_TOGETHER:]]
        *others, last = [Actor(Role.name, n.text, n.kind) for n in names if n is not None]
        for claim in found:
            if claim.subject.role is Role.name and claim.subject.text == last.text:
                for other in others:
                    said = replace(claim, subject=other)
                    if said.target != other and said not in made:
                        made.append(said)
    return made
