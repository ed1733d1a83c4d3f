"""How often the date resolver gives the days that the Recognizers-Text specifications expect.

    python bench/dates.py [--data PATH] [--failures N] [--no-dateparser]

PATH holds English/, Spanish/ and Chinese/ with DateParser.json, DatePeriodParser.json and DateTimeModel.json.
A point is exact when its day is; a period when both of its ends are; an open stretch when its stated end is and the
other is open. For an expression that could be past or future the specification lists both: `exact` accepts either,
`claimed` only the one that the resolver's rule picks (past, unless the sentence speaks of the future).
"""

import argparse
import json
import os
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from pipeline.timeline.datelang.languages import LANGUAGES
from pipeline.timeline.datelang.latin import fold
from pipeline.timeline.dates import DateSpan, resolve

FOLDERS = {"en": "English", "es": "Spanish", "zh": "Chinese"}
FILES = ("DateParser", "DatePeriodParser", "DateTimeModel")
TARGETS = {"en": 0.85, "es": 0.80, "zh": 0.75}

# categories that the resolver is not meant to cover: (name, why, pattern over the expected text)
LEFT_OUT = (
    (
        "holiday",
        "named days need a calendar of holidays per country",
        r"christmas|easter|thanksgiving|labou?r day|independence|new year|halloween|black friday|earth day|patrick"
        r"|juneteenth|freedom day|jubilee|workers|eid al|navidad|semana santa|viernes negro|independencia|trabajador"
        r"|dia de (?:la )?(?:libertad|tierra|san)|jubileo|[春国]节|国庆|元旦|圣诞",
    ),
    ("lunar or era", "other calendars", r"农历|初[一二三四五六七八九十]|正月|大年|民国|康熙|雍正|神龙"),
    (
        "anaphora",
        "the unit alone, or pointing at something said elsewhere, names no date",
        r"^(?:the|my|el|la|del|de la|las|los)?\s*(?:same |mism[oa] |that |es[ea] |aquel(?:la)? )?(?:day|week|month|year|weekend"
        r"|fortnight|dia|semana|mes|ano|fin de semana)$"
        r"|^(?:the day (?:before|after)|(?:el )?(?:dia siguiente|dia anterior)|recientemente|最近)$",
    ),
)


# "something up the 21st" has no date there, "something up on the 18th" has one
CONTRADICTED = r"the 21st( and 23rd)?\.$|el 21ro\?$|^12号$"


@dataclass(frozen=True)
class Expected:
    """One date of the specification: allowed (start, end), as days; `point` when only the day counts."""

    language: str
    sentence: str
    reference: datetime
    text: str
    begin: int
    stop: int
    point: bool
    values: tuple[tuple[str | None, str | None], ...]


@dataclass
class Cases:
    """What is measured: dates to be found, sentences without any, and what is left out with the reason."""

    expected: list[Expected]
    without: list[tuple[str, str, datetime]]
    left_out: Counter[tuple[str, str]]


def load(root: Path) -> Cases:
    cases = Cases([], [], Counter())
    seen: set[Any] = set()
    for language, folder in FOLDERS.items():
        for name in FILES:
            path = root / folder / f"{name}.json"
            if not path.is_file():
                sys.exit(f"bench/dates.py: no file {path}; --data must hold {folder}/{name}.json")
            for case in json.loads(path.read_text(encoding="utf-8-sig")):
                _read(case, name, language, cases, seen)
    return cases


def _read(case: dict[str, Any], name: str, language: str, cases: Cases, seen: set[Any]) -> None:
    sentence = case["Input"]
    stated = (case.get("Context") or {}).get("ReferenceDateTime") or "2020-01-01T00:00:00"
    reference = datetime.fromisoformat(stated).replace(tzinfo=UTC)
    types = {(r.get("TypeName") or r.get("Type") or "").split(".")[-1] for r in case["Results"]}
    dated = types & {"date", "daterange", "datetime", "datetimerange", "datetimealt", ""}
    whole = name == "DateTimeModel"  # the other two say nothing about what their own kind leaves over
    if whole and not dated and (language, sentence) not in seen:
        seen.add((language, sentence))
        if re.search(CONTRADICTED, sentence):
            cases.left_out[language, "contradicted"] += 1
            return
        cases.without.append((language, sentence, reference))
    for result in case["Results"]:
        kind = (result.get("TypeName") or result.get("Type") or "").split(".")[-1]
        if kind not in ("date", "daterange"):
            continue
        begin = result.get("Start", 0)
        stop = result["End"] + 1 if "End" in result else begin + result.get("Length", len(sentence))
        expected = Expected(
            language, sentence, reference, result["Text"], begin, stop, kind == "date", _values(result)
        )
        if expected in seen:
            continue
        seen.add(expected)
        reason = _left_out(expected)
        if reason == "impossible":
            cases.without.append((language, sentence, reference))
        elif reason:
            cases.left_out[language, reason] += 1
        else:
            cases.expected.append(expected)


def _values(result: dict[str, Any]) -> tuple[tuple[str | None, str | None], ...]:
    if "Value" in result:
        resolutions = [result["Value"].get(k) or {} for k in ("PastResolution", "FutureResolution")]
        found = [(r.get("date") or r.get("startDate"), r.get("endDate")) for r in resolutions if r]
    else:
        entries = (result.get("Resolution") or {}).get("values") or []
        found = [(v.get("value") or v.get("start"), _end(v)) for v in entries]
    return tuple(dict.fromkeys(v for v in found if v != (None, None)))


def _end(value: dict[str, str]) -> str | None:
    """The specification closes "on or before 5 May" with that day; a half-open end is the day after."""
    end = value.get("end")
    if end and value.get("Mod") == "until" and re.fullmatch(r"\d{4}-\d\d-\d\d", value.get("timex", "")):
        return (datetime.fromisoformat(end) + timedelta(days=1)).date().isoformat()
    return end


def _left_out(expected: Expected) -> str | None:
    text = fold(expected.text).strip()
    for name, _, pattern in LEFT_OUT:
        if re.search(pattern, text):
            return name
    if not expected.values or any(v[0] == "not resolved" for v in expected.values):
        return "no value given"
    if all(v[0] and v[0].startswith("0001") for v in expected.values):
        return "impossible"
    return None


def matches(span: DateSpan, value: tuple[str | None, str | None], point: bool) -> bool:
    start = span.start.date().isoformat() if span.start else None
    end = span.end.date().isoformat() if span.end else None
    return (start == value[0] and span.role == "point") if point else (start, end) == value


def claimed(expected: Expected) -> tuple[str | None, str | None]:
    """The value that the resolver's rule for past or future promises."""
    grammar = LANGUAGES[expected.language]
    return expected.values[-1 if grammar.future.search(expected.sentence.lower()) else 0]


def run_ours(cases: Cases, show: int) -> bool:
    found: Counter[str] = Counter()
    strict: Counter[str] = Counter()
    total: Counter[str] = Counter()
    kinds: defaultdict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    failures: list[str] = []
    started = time.process_time()
    for expected in cases.expected:
        spans = resolve(expected.sentence, expected.reference, expected.language)
        near = [s for s in spans if s.begin < expected.stop and expected.begin < s.stop]
        exact = any(matches(s, v, expected.point) for s in near for v in expected.values)
        total[expected.language] += 1
        found[expected.language] += exact
        strict[expected.language] += any(matches(s, claimed(expected), expected.point) for s in near)
        kind = kinds[expected.language, "point" if expected.point else "period"]
        kind[0] += exact
        kind[1] += 1
        if not exact:
            got = [(s.text, s.role, str(s.start)[:10], str(s.end)[:10]) for s in spans]
            failures.append(
                f"  {expected.language} {expected.reference:%Y-%m-%d} {expected.sentence[:110]!r}\n"
                f"      expected {expected.text!r} {expected.values}\n      got {got}"
            )
    spent = time.process_time() - started
    wrong: Counter[str] = Counter()
    nothing = Counter(language for language, _, _ in cases.without)
    misfires = []
    for language, sentence, reference in cases.without:
        if spans := resolve(sentence, reference, language):
            wrong[language] += 1
            misfires.append(
                f"  {language} {sentence[:150]!r} -> {[(s.text, str(s.start)[:10]) for s in spans]}"
            )
    print("language  cases  exact  claimed  point  period  target   no-date  wrong")
    for language in FOLDERS:
        n = total[language]
        point, period = kinds[language, "point"], kinds[language, "period"]
        print(
            f"{language:8}  {n:5}  {found[language] / n:.3f}  {strict[language] / n:7.3f}  {point[0] / point[1]:.3f}"
            f"  {period[0] / period[1]:6.3f}  {TARGETS[language]:6.2f}   {nothing[language]:7}  {wrong[language]:5}"
        )
    everything = sum(nothing.values())
    rate = sum(wrong.values()) / everything
    print(
        f"\nanswers where there is no date: {sum(wrong.values())} of {everything} = {rate:.2%} (target < 1 %)"
    )
    print(f"processor time: {1e6 * spent / len(cases.expected):.0f} µs a sentence\n\nleft out:")
    reasons = {name: why for name, why, _ in LEFT_OUT} | {
        "no value given": "the specification gives no days",
        "contradicted": "sentences without a date of which the same file has a twin with one",
    }
    for reason, why in reasons.items():
        counts = ", ".join(f"{language} {cases.left_out[language, reason]}" for language in FOLDERS)
        print(f"  {reason:15} {counts:24} {why}")
    if show:
        print(
            "\nfailures:", *failures[:show], "\nanswers where there is no date:", *misfires[:show], sep="\n"
        )
    return rate < 0.01 and all(found[x] / total[x] >= TARGETS[x] for x in FOLDERS)


def run_dateparser(cases: Cases) -> None:
    """The same dates for `dateparser.search`: its days against points, and against the first day of periods."""
    from dateparser.search import search_dates

    def answers(sentence: str, reference: datetime, language: str) -> Iterator[str]:
        settings = {"RELATIVE_BASE": reference.replace(tzinfo=None)}
        for _, moment in search_dates(sentence, languages=[language], settings=settings) or []:
            yield moment.date().isoformat()

    kinds: defaultdict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    started = time.process_time()
    for expected in cases.expected:
        kind = kinds[expected.language, expected.point]
        kind[1] += 1
        days = list(answers(expected.sentence, expected.reference, expected.language))
        kind[0] += any(v[0] in days for v in expected.values)
    spent = time.process_time() - started
    wrong = sum(any(True for _ in answers(s, r, x)) for x, s, r in cases.without)
    print("\ndateparser: right day for points; for periods only the first day is asked")
    for language in FOLDERS:
        point, period = kinds[language, True], kinds[language, False]
        print(f"{language:8}  point {point[0] / point[1]:.3f}  period start {period[0] / period[1]:.3f}")
    print(
        f"answers where there is no date: {wrong} of {len(cases.without)} = {wrong / len(cases.without):.1%}"
    )
    print(f"processor time: {timedelta(seconds=spent / len(cases.expected)).microseconds} µs a sentence")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    shared = os.environ.get("FACTSTREAM_SHARED") or Path(__file__).resolve().parents[2] / "shared"
    parser.add_argument(
        "--data",
        type=Path,
        default=Path(shared) / "data" / "dates",
        help="folder with English/, Spanish/, Chinese/ (default: data/dates under $FACTSTREAM_SHARED or ../shared)",
    )
    parser.add_argument("--failures", type=int, default=0, metavar="N", help="print up to N failures")
    parser.add_argument("--no-dateparser", action="store_true", help="leave the comparison out")
    given = parser.parse_args()
    if not given.data.is_dir():
        sys.exit(f"bench/dates.py: no folder {given.data}; the specifications are not part of the project")
    cases = load(given.data)
    reached = run_ours(cases, given.failures)
    if not given.no_dateparser:
        run_dateparser(cases)
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main())
