"""Corrections by hand, applied to the evidence that they correct. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.model.extraction import StatementKind
from pipeline.timeline.evidence import Evidence


def corrected(ordered: Iterable[Evidence]) -> list[Evidence]:
    """Evidence in total order as corrections leave it; the corrections themselves stay in it.

    What an asserting correction says of the interval replaces what the corrected evidence said. A closing correction
    takes the corrected evidence back. A newer correction of the same evidence outdoes an older one, and evidence that
    has been taken back stays so. Applying this twice is the same as once.
    """
    standing = {e.id: e for e in ordered}
    for item in list(standing.values()):
        for name in item.corrects:
            target = standing.get(name)
            if target is None or name == item.id:
                continue
            if item.kind is StatementKind.closes:
                del standing[name]
            else:
                standing[name] = target.model_copy(
                    update={
                        "valid_at": item.valid_at,
                        "valid_at_precision": item.valid_at_precision,
                        "invalid_at": item.invalid_at,
                        "invalid_at_precision": item.invalid_at_precision,
                    }
                )
    return list(standing.values())
