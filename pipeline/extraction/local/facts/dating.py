"""When a claim holds: the dates of its clause, or the reference time. Pure."""

from __future__ import annotations

from datetime import datetime

from pipeline.extraction.local.facts.claim import Claim, Mode
from pipeline.timeline.dates import Interval, to_interval
from pipeline.timeline.precision import Precision


def interval(claim: Claim, reference_time: datetime) -> Interval:
    """(valid_at, precision, invalid_at, precision) of a claim; invalid_at alone for one that ceases.

    What held and is over without a date ended at the reference time at the latest, and began nobody knows when.
    """
    span = claim.dates[0] if claim.dates else None
    now = (reference_time, Precision.second)
    if claim.mode is Mode.ceases:
        if span is None:
            return None, None, *now
        at = span.end if span.role == "until" else span.start or span.end
        return (None, None, at, span.precision) if at else (None, None, *now)
    if span is None:
        return (*now, None, None) if claim.mode is Mode.holds else (None, None, *now)
    start, start_precision, end, end_precision = to_interval(span)
    if claim.mode is Mode.held and end is None and span.role in ("point", "period"):
        end, end_precision = span.end, span.precision
        if end is not None and end > reference_time:
            end, end_precision = now
    if start is not None and end is not None and end <= start:
        end = end_precision = None
    return start, start_precision, end, end_precision
