"""The Chinese grammar. Code letters are those of `chinese_words`; A is a settled date, B one that comes back."""

import re
from typing import Any

from pipeline.timeline.datelang import calendar, chinese_words, common, days, periods, spans, values
from pipeline.timeline.datelang.calendar import Period
from pipeline.timeline.datelang.cascade import JUNK, Hit, Item, Made, Rule, rule, token
from pipeline.timeline.datelang.latin import full_year, numeric
from pipeline.timeline.datelang.values import Fixed, Recurring, Relation
from pipeline.timeline.precision import Precision as P

FUTURE, PAST = chinese_words.FUTURE, chinese_words.PAST
_SCAN = re.compile(
    "|".join(f"(?P<g{i}>{pattern})" for i, (_, pattern, _) in enumerate(chinese_words.LEXEMES))
)
_GROUPS = {f"g{i}": (code, value) for i, (code, _, value) in enumerate(chinese_words.LEXEMES)}
_SHORT = re.compile(r"(\d{1,2})([-/.])(\d{1,2})\2(\d{1,2})")


def lexer(text: str, folded: str) -> list[Item]:
    items: list[Item] = []
    simplified = folded.translate(chinese_words.SIMPLIFIED)
    for match in _SCAN.finditer(simplified):
        name = next(
            n for n in (match.lastgroup, *_GROUPS) if n in _GROUPS and match.group(n or "") is not None
        )
        items.extend(_items(*_GROUPS[str(name)], match))
    return items


def prepare(items: list[Item]) -> list[Item]:
    return items


def _items(code: str, value: Any, match: re.Match[str]) -> list[Item]:
    begin, stop, found = match.start(), match.end(), match.group()
    match code:
        case "num":
            return _digits(found, begin)
        case "zh":
            number = chinese_words.numeral(found)
            if number is None:
                return [Item(JUNK, None, begin, stop)]
            year = len(found) == 4 and "十" not in found and "百" not in found and number >= 1000
            year = year or (found[0] in "一两二" and "千" in found and 1000 <= number <= 2199)
            return [Item("Y" if year else "N", number, begin, stop, found[0] in "零〇")]
        case "W":
            return [Item("W", chinese_words.weekday(match.group("wd")), begin, stop)]
        case "few":
            return [Item("N", value, begin, stop)]
        case "cm":
            return [Item("c", None, begin, begin + 1), Item("m", None, begin + 1, stop)]
        case "Pm" | "Pw":
            return [Item("D", (P.month if code == "Pm" else P.week, value), begin, stop)]
    return [Item(code, value, begin, stop)]


def _digits(found: str, begin: int) -> list[Item]:
    if short := _SHORT.fullmatch(found):
        # two-digit years: year first when that reads as one, as in 12-11-10 and 27-7-3
        first, last = short[1], short[4]
        if len(last) == 1 and len(first) == 1:
            return [Item(JUNK, None, begin, begin + len(found))]
        if len(first) == 2 and int(last) <= 31:
            found_ = f"20{int(first):02d}-{short[3]}-{last}"
            item = numeric(found_, begin, day_first=True)
            return [Item(item.code, item.value, begin, begin + len(found))] if item else []
    one = numeric(found, begin, day_first=True)
    if one is not None:
        return [Item(one.code, one.value, one.begin, one.stop, found[0] == "0" and len(found) == 2)]
    for cut in re.finditer("-", found):
        left = numeric(found[: cut.start()], begin, day_first=True)
        right = numeric(found[cut.end() :], begin + cut.end(), day_first=True)
        if left is not None and right is not None and left.code == right.code:
            return [left, Item("G", None, begin + cut.start(), begin + cut.end()), right]
    return [Item(JUNK, None, begin, begin + len(found))]


def _pair(hit: Hit) -> Made:
    month, day, separator = hit.get("pair")
    return days.month_day_of(month, day) if separator == "/" and ("sure" in hit or "alone" in hit) else None


def _duration(hit: Hit) -> Made:
    unit = {"y": P.year, "t": P.day, "w": P.week, "m": P.month, "j": P.quarter}[hit.item("unit").code]
    number = hit.number("count")
    return token("d", [(number, unit)]) if 0 < number < 1000 and not hit.item("count").proper else None


def _half_year(hit: Hit) -> Made:
    return token("d", [(6, P.month)])


def _years_and_a_half(hit: Hit) -> Made:
    return token("d", [(12 * hit.number("count") + 6, P.month)])


def _year(hit: Hit) -> Made:
    """ "2008年"; of two digits only where no count of years can be meant ("08年", "95年")."""
    item = hit.item("year")
    number = int(item.value)
    if item.code == "N" and number >= 100:
        return None
    if item.code == "N":
        if not (item.proper or "sure" in hit or number >= 50):
            return None
        number = full_year(number)
    return Fixed(calendar.year(number))


def _in_year(hit: Hit) -> Made:
    """ "在789年": three digits after a word of place in time; two digits as anywhere."""
    return Fixed(calendar.year(hit.number("year"))) if hit.number("year") >= 100 else None


def _relative_year(hit: Hit) -> Made:
    return Fixed(calendar.year(hit.today.year + hit.number("offset")))


def _unit(unit: P) -> Any:
    def built(hit: Hit) -> Made:
        return Fixed(calendar.unit_period(hit.today, unit, hit.number("mod")))

    return built


def _half(hit: Hit) -> Made:
    number = hit.number("half")
    if "year" in hit:
        return common.inside(values.yearly(lambda y: calendar.half(y, number)), hit.get("year"))
    return Fixed(calendar.half(hit.today.year, number))


def _part_of_current(hit: Hit) -> Made:
    unit, which = hit.get("part")
    return Fixed(calendar.part(calendar.unit_period(hit.today, unit), which))


def _part_of_this(hit: Hit) -> Made:
    """ "年底", "月初"."""
    unit = P.year if hit.item("unit").code == "y" else P.month
    return Fixed(calendar.part(calendar.unit_period(hit.today, unit), hit.number("part")))


def _nth(unit: P) -> Any:
    def choose(hit: Hit, outer: Period) -> Period:
        return calendar.nth_unit(outer, unit, hit.number("number"))

    return periods.select(choose)


def _last(hit: Hit, outer: Period) -> Period:
    return calendar.nth_weekday(outer, hit.number("wd"), -1 if "last" in hit else hit.number("number"))


def _stretch(number: int) -> Any:
    def choose(hit: Hit, outer: Period) -> Period:
        count, unit = hit.get("dur")[0]
        return calendar.nth_unit(outer, unit, number, count)

    return periods.select(choose)


def _quarter(hit: Hit) -> Made:
    number = hit.number("number")
    return values.yearly(lambda y: calendar.quarter(y, number)) if 1 <= number <= 4 else None


def _season(hit: Hit) -> Made:
    number = hit.number("season")
    if "mod" in hit:
        inner = values.yearly(lambda y: calendar.season(y, number))
        return common.inside(inner, Fixed(calendar.unit_period(hit.today, P.year, hit.number("mod"))))
    return common.inside(values.yearly(lambda y: calendar.season(y, number)), hit.get("year"))


def _both_sides(hit: Hit) -> Made:
    """ "2010年之后2018年之前"."""
    left, right = hit.get("left"), hit.get("right")
    known = isinstance(left, Fixed | Recurring) and isinstance(right, Fixed | Recurring)
    return Relation("range", left, right) if known else None


def _ordinal_stretch(hit: Hit, outer: Period) -> Period:
    number, unit = hit.get("dur")[0]
    return calendar.nth_unit(outer, unit, number)


def _numbered_quarter(hit: Hit) -> Made:
    """ "第三季度", "第31周" without a year."""
    number, unit = hit.get("dur")[0]
    if unit is P.quarter and number <= 4:
        return values.yearly(lambda y: calendar.quarter(y, number))
    if unit is P.week and hit.today:
        return Fixed(calendar.nth_unit(calendar.year(hit.today.year), P.week, number)) if number > 9 else None
    return None


def _with_weekday(hit: Hit) -> Made:
    """ "10月12号，星期一": a weekday after a day adds nothing."""
    value, named = hit.get("value"), hit.items[hit.match.end() - 1].value
    if not isinstance(named, Recurring) or named.scale is not P.week:
        return None
    if isinstance(value, Fixed):
        return value if value.period.grain is P.day and not value.loose else None
    return value if isinstance(value, Recurring) and value.scale in (P.year, P.month) else None


LEFT, RIGHT, VALUE = "(?P<left>[AB])", "(?P<right>[AB])", "(?P<value>[AB])"
NOT_UNIT = "(?![cytwmjsgN])"
STAGES: list[list[Rule]] = [
    [
        rule("(?P<year>[YN])yf?(?P<month>N)m(?P<day>N)(?:r|(?![cytwmjsg]))", days.month_day),
        rule("[YN]yf?NmNr", common.dead),
        rule("(?P<year>[YN])yf?(?P<month>N)m", periods.month),
        rule("(?P<month>N)m(?P<day>N)r", days.month_day),
        rule("NmNr", common.dead),
        rule(f"(?P<month>N)m(?P<day>N){NOT_UNIT}", days.month_day),
        rule("(?P<century>N)s(?P<decade>N)g", periods.century_decade),
        rule("(?P<mod>L)c?s(?P<decade>N)g", periods.century_decade),
        rule("(?P<decade>[NY])g", periods.decade),
        rule("(?P<number>N)s", periods.century),
        rule("(?P<first>Y)G(?P<last>Y)y?", spans.year_pair),
        rule("(?P<year>Y)y", _year),
        rule("(?P<sure>[kiFG])(?P<year>N)y(?![eaN+])", _in_year, keep="year"),
        rule(r"(?P<year>N)y(?![eaAN+])", _year),
        rule("(?P<year>N)y(?=[ea])", _year),
        rule("(?<=[FGi=k])(?P<year>Y)", periods.plain_year),
        rule("^(?P<year>Y)", periods.plain_year),
        rule("(?P<sure>[iFGk])?(?P<pair>n)(?=G)", _pair, keep="pair"),
        rule("(?P<sure>(?<![^iFGk,])|(?<=G))(?P<pair>n)", _pair),
        rule(r"(?P<count>N)y\+", _years_and_a_half),
        rule("(?P<count>N)c?(?P<unit>[ytwj])", _duration),
        rule("(?P<count>N)c(?P<unit>m)", _duration),
        rule("h(?=[ea])", _half_year),
    ],
    [
        rule("(?P<offset>R)", _relative_year),
        rule("(?P<offset>T)", days.offset_day),
        rule("(?P<mod>L)c?w(?![\\w])", _unit(P.week)),
        rule("(?P<mod>L)c?(?P<wd>W)", days.modified_weekday),
        rule("(?P<mod>L)c?E", _unit(P.weekend)),
        rule("(?P<mod>L)c?w", _unit(P.week)),
        rule("(?P<mod>L)c?m", _unit(P.month)),
        rule("(?P<mod>L)c?j", _unit(P.quarter)),
        rule("(?P<mod>L)c?h", _unit(P.half_year)),
        rule("(?P<mod>L)c?y", _unit(P.year)),
        rule("(?P<mod>L)c?s", _unit(P.century)),
        rule("(?P<mod>L)c?(?P<season>S)", _season),
        rule("(?P<year>A)f?(?P<half>Q)", _half),
        rule("(?P<half>Q)", _half),
        rule("(?P<part>D)", _part_of_current),
        rule("(?P<year>A)f?(?P<season>S)", _season),
        rule("(?P<month>N)m", periods.month),
        rule("(?P<outer>A)f?(?P<day>N)r", days.day_within),
        rule("(?P<outer>A)f?(?P<inner>B)", periods.within),
        rule(f"{VALUE}f?o(?P<number>N)w", _nth(P.week)),
        rule(f"{VALUE}f?o(?P<number>N)cm", _nth(P.month)),
        rule(f"{VALUE}f?o(?P<number>N)j", _nth(P.quarter)),
        rule(f"{VALUE}f?o(?P<dur>d)", periods.select(_ordinal_stretch)),
        rule(f"{VALUE}f?o(?P<number>N)c?(?P<wd>W)", periods.select(_last)),
        rule(f"{VALUE}f?(?P<last>l)(?:Nc?)?(?P<wd>W)", periods.select(_last)),
        rule(f"{VALUE}fe(?P<dur>d)", _stretch(1)),
        rule(f"{VALUE}f?l(?P<dur>d)", _stretch(-1)),
        rule("o(?P<dur>d)", _numbered_quarter),
        rule(f"(?<=[Gk]){VALUE}f?(?P<part>P)", periods.edge),
        rule(f"{VALUE}f?(?P<part>P)", periods.part),
        rule("(?P<unit>[ym])(?P<part>P)", _part_of_this),
        rule("(?P<dur>d)e", spans.ago(-1)),
        rule("(?P<dur>d)a", spans.ago(1)),
        rule("(?P<mod>[puL])(?P<dur>d)", spans.span()),
        rule("(?<![AB])e(?P<dur>d)", spans.span(-1)),
        rule("(?<![AB])a(?P<dur>d)", spans.span(1)),
        rule("(?P<day>N)r", days.day_of_month),
        rule("(?P<wd>W)", days.weekday),
        rule("E", lambda hit: Fixed(calendar.weekend(hit.today))),
    ],
    [
        rule(f"{VALUE},?B", _with_weekday),
        rule("(?P<outer>A)f?(?P<inner>B)", periods.within),
        rule(f"[Fi]?{LEFT}f?G(?P<last>N)r", spans.day_range),
        rule(f"[Fi]?{LEFT}aif?{RIGHT}e", _both_sides),
        rule(f"[Fi]?{LEFT}a{RIGHT}e", _both_sides),
        rule(f"[Fi]?{LEFT}G{RIGHT}b?", spans.between),
        rule(f"i?{LEFT}&{RIGHT}b", spans.between),
        rule(f"[Fi]?{VALUE}>", spans.relation("since")),
        rule(f"[Fi]?{VALUE}<", spans.relation("until", inclusive=True)),
        rule(f'F?{VALUE}"', spans.relation("since")),
        rule(f"F{VALUE}(?!G)", spans.relation("since")),
        rule(f"{VALUE}a", spans.relation("since", after=True)),
        rule(f"{VALUE}e", spans.relation("until")),
        rule(f"[Gk]{VALUE}k?", spans.relation("until")),
    ],
]
