"""The messages of bench/cost.py: so many entities beside the speaker, said for the first time and then once more."""

from __future__ import annotations

from dataclasses import dataclass

SPEAKER = "Ana"

_SIX = (
    "Bruno Falk works at Globex. Bruno Falk lives in Lima since 2019. Bruno Falk bought a Tesla last week. "
    "Clara Ruiz founded Initech. Clara Ruiz knows Bruno Falk. Globex is based in Lima."
)
_SIX_AGAIN = (
    "Bruno Falk likes Lima. Bruno Falk left Globex. Clara Ruiz owns a Tesla. Clara Ruiz moved to Lima. "
    "Clara Ruiz left Initech. Bruno Falk met Clara Ruiz."
)


@dataclass(frozen=True)
class Talk:
    """Two messages about the same entities; the second one tells something else of them."""

    entities: int
    facts: int
    first: str
    second: str


TALKS = (
    Talk(0, 0, "Ok, thanks!", "ok, thanks!"),
    Talk(1, 1, "I work at Globex.", "I left Globex."),
    Talk(
        3,
        2,
        "Bruno Falk works at Globex. Bruno Falk lives in Lima since 2019.",
        "Bruno Falk left Globex. Bruno Falk likes Lima.",
    ),
    Talk(6, 6, _SIX, _SIX_AGAIN),
    Talk(
        12,
        12,
        f"{_SIX} Dora Sol lives in Quito. Emil Rot works at Umbrella. Fay Lund owns a Leica. "
        "Dora Sol knows Fay Lund. Emil Rot manages Fay Lund. Umbrella is based in Quito.",
        f"{_SIX_AGAIN} Dora Sol moved to Lima. Emil Rot left Umbrella. Fay Lund likes Quito. "
        "Emil Rot met Dora Sol. Dora Sol bought a Leica. Fay Lund joined Umbrella.",
    ),
)
