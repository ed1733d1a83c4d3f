"""The Spanish grammar. Code letters are those of `spanish_words`; A is a settled date, B one that comes back."""

import re

from pipeline.timeline.datelang import common, days, periods, spans, values
from pipeline.timeline.datelang.cascade import Hit, Made, Rule, rule, token
from pipeline.timeline.datelang.latin import Lexer
from pipeline.timeline.datelang.numbers import join_numbers
from pipeline.timeline.datelang.spanish_words import LEXICON
from pipeline.timeline.precision import Precision

lexer = Lexer(LEXICON)
prepare = join_numbers

FUTURE = re.compile(
    r"\b(?:(?:voy|vas|va|vamos|van) a|\w{2,}(?:ré|rás|rá|remos|rán)|mañana|próxim[oa]s?|espero|pienso|planea\w*"
    r"|reserva\w*|programa\w*|que viene)\b"
)
PAST = re.compile(
    r"\b(?:\w{2,}(?:aron|ieron|aste|iste|aba|aban|ía|ían|ó)|fue|fui|fueron|era|eran|estuve|estuvo|tuve|tuvo|hice|hizo)\b"
)


def _ordinal(hit: Hit) -> Made:
    return token("o", hit.number("tens") + hit.number("ones")) if hit.number("tens") in (20, 30) else None


def _and_one(hit: Hit) -> Made:
    """ "treinta y un días"."""
    tens = hit.number("tens")
    return token("N", tens + 1) if tens in range(30, 100, 10) else None


def _pair(hit: Hit) -> Made:
    """ "22/4", "4/22": day first unless only the other order is a date; small numbers need a word before them."""
    first, second, separator = hit.get("pair")
    if separator == "." and "wd" not in hit:
        return None
    placed = "sure" in hit or "both" in hit
    if (first, second) == (24, 7) or (not placed and (max(first, second) <= 12 or separator != "/")):
        return None
    return days.month_day_of(first, second) if second > 12 else days.month_day_of(second, first)


def _dash(hit: Hit) -> Made:
    first, second = hit.number("first"), hit.number("second")
    return days.month_day_of(first, second) if second > 12 else days.month_day_of(second, first)


def _of_number(hit: Hit) -> Made:
    """ "el 17 del 11"."""
    return days.month_day_of(hit.number("month"), hit.number("day")) if hit.get("of") == "del" else None


def _day(hit: Hit) -> Made:
    """ "el 15": only the masculine article and digits name a day of the month."""
    item = hit.item("day")
    return days.day_of_month(hit) if item.proper and hit.get("the") == "el" else None


def _decade(hit: Hit) -> Made:
    """ "los años 90", "la década de 1990"."""
    unit, number = hit.get("unit"), hit.number("decade")
    if number % 10 or (unit is not Precision.decade and hit.item("unit").code != "u"):
        return None
    return periods.decade(hit)


def _years_and_a_half(hit: Hit) -> Made:
    return token("d", [(12 * hit.number("count") + 6, Precision.month)])


def _month(hit: Hit) -> Made:
    """ "mar", "may", "set": an abbreviation that is also a word needs a place where only a month stands."""
    return values.month(hit.number("month"))


MONTH, DAY, YEAR, SEP = "(?P<month>[Mm])", "(?P<day>[NOoS1])", "(?P<year>Y|y)", "[,/.-]?f?t?i?t?"
NAMED = "(?:[Wv][,(.-]*t?)?"
TO = "(?:[Gk]t?|-)"
DAYS = rf"t?(?P<first>[NOo])(?:{TO}|(?<=b.)&t?|(?<=bt.)&t?)(?P<last>[NOo])"
LEFT, RIGHT, VALUE = "(?P<left>[AB])", "(?P<right>[AB])", "(?P<value>[AB])"
FROM, OF, UNIT = "[sbf]?", "[fi]?t?", "(?P<unit>[Uu])"

_NUMBERS = [
    rule("(?P<tens>o)(?P<ones>[oS])", _ordinal),
    rule("(?P<tens>N)&1(?=[Uu])", _and_one),
    rule(r"Et?[NOo]?[UuWvVMRB]", common.dead),
    rule(r"[Wv]\*", common.dead),
    rule("(?<=t)V", common.dead),
    rule("[N1]-?H|gH", common.dead),
    rule("(?P<the>t)[Wv]", days.repeated),
    rule(r"(?P<count>N)\+", _years_and_a_half),
    rule("(?P<parts>[N1][Uu]%?(?:(?:,&|,|&)?[N1][Uu])*)", spans.duration),
]
_DATES = [
    rule(rf"{FROM}{DAYS}f?t?{MONTH}(?:{SEP}{YEAR})?", spans.days_of_month),
    rule(rf"{FROM}{MONTH}{DAYS}(?![-/Uu])(?:{SEP}{YEAR})?", spans.days_of_month),
    rule(rf"{NAMED}(?:tU)?t?{DAY}[-/.]?f?{MONTH}{SEP}{YEAR}", days.month_day),
    rule(rf"(?P<day>N)[-/]{MONTH}[-/](?P<year>N)", days.month_day),
    rule(rf"{NAMED}(?:tU)?t?{DAY}[-/.]?f?{MONTH}", days.month_day),
    rule(rf"{NAMED}{MONTH}[,-]?{DAY}{SEP}{YEAR}", days.month_day),
    rule(rf"{NAMED}{MONTH}[-/]?(?P<day>[NOo])(?![Uu])", days.month_day),
    rule(rf"{YEAR}[-/]{MONTH}[-/]{DAY}", days.month_day),
    rule(rf"{MONTH}{SEP}{YEAR}", periods.month),
    rule(rf"{YEAR}[,-]*{MONTH}(?!N)", periods.month),
    rule(rf"{MONTH}f(?P<year>N)", periods.month),
    rule(r"(?P<day>N)f(?P<month>N)f(?P<year>Y)", days.month_day),
    rule(
        "t?(?P<unit>U)(?P<number>N)(?![Uu])(?!ft?(?:[LXI]U|U[LXI]))(?:[,f]?(?P<year>[Yy]))?",
        periods.week_number,
    ),
    rule("(?P<year>Y)[-/](?P<month>N)(?![-/NUuwn])", periods.month),
    rule("(?<![-/N])(?P<month>N)[-/.](?P<year>Y)(?![-/NUuw])", periods.month),
    rule(
        "(?P<sure>(?P<wd>[WvV])[,(]?|(?:(?:[pskeabfGi]|(?<=bn)&|(?<=bn)&t|(?<=[sb]n)-)t?|[IXLt]))?(?P<pair>n)(?P<both>-A)?",
        _pair,
        keep="pair",
    ),
    rule("(?<=[ti])(?P<first>N)-(?P<second>N)(?![-NMmUuwf])", _dash),
    rule(r"(?<=t)(?P<day>N)(?P<of>f)(?P<month>N)(?![\w])", _of_number),
    rule("(?P<sure>[WvV][,(]?)(?=B)", lambda hit: token("p"), keep="sure"),
]
_YEARS = [
    rule(f"t?{UNIT}f?t?(?P<decade>[YN])(?![Uu])", _decade),
    rule(f"t?{UNIT}Z?f?(?P<year>[YyN])(?![Uu])", periods.plain_year),
    rule("(?P<the>t)(?P<decade>Y)", periods.decade_named),
    rule("(?P<first>Y)[-G](?P<last>Y)(?![-/NwU])", spans.year_pair),
    rule("(?<=[iskeabfGP=])t?(?P<year>[Yy])(?![Uu])", periods.plain_year, keep="year"),
    rule("(?<=[iskeabfG])t?(?P<year>Y)(?=[.,)k]|$|GY)", periods.year, keep="year"),
    rule("(?<=[ke&b])(?P<year>Y)", periods.plain_year, keep="year"),
    rule("(?<=[RQ])(?:f|[,/-])?t?(?P<year>[Yy])", periods.plain_year, keep="year"),
    rule("(?<=U)[f-]?t?(?P<year>Y)(?=[.,]|$)", periods.plain_year, keep="year"),
    rule("(?P<year>Y)(?=[,-]?t?[oQR])", periods.plain_year),
    rule(r"(?<![^.(])(?P<year>Y)(?=[z.),>]|$)", periods.plain_year),
    rule("(?P<year>Y)(?=>)", periods.plain_year),
    rule("(?<=A[&,G-])(?P<year>Y)(?![wNUu])", periods.plain_year),
]
_PERIODS = [
    rule("t?(?P<unit>U)(?P<number>!)", periods.century),
    rule("(?P<month>M)", periods.month),
    rule("(?<=[iskeabPLXI])t?(?P<month>m)", _month, keep="month"),
    rule("(?<=[AB][Gk&-])(?P<month>m)", _month),
    rule("(?P<month>m)(?=[G&-][AB])", _month),
    rule("(?P<part>Q)", periods.quarter),
    rule("(?P<season>R)(?=[,f]?t?(?:A|[LXI]U|U[LXI]))", periods.season),
    rule("(?<=[tLXIPsi])(?P<season>R)(?!w)", periods.season),
    rule("(?P<season>R)(?=[LXI])", periods.season),
    rule("(?P<offset>T)", days.offset_day),
    rule("(?<=[Gk-])_|(?<=[sb])_|(?<=b.&)_", days.today),
    rule("~[fi]?[It]?(?P<unit>U)", periods.rest(1)),
    rule('"[fi]?[It]?(?P<unit>U)', periods.rest(-1)),
    rule("t?(?P<unit>U)at?(?P<mod>X)", periods.unit_twice),
    rule("(?:j|p)t?(?P<mod>X)(?P<dur>d)", spans.span(1, from_today=True)),
    rule("t?(?P<count>N)(?P<mod>[LX])(?P<unit>u)", spans.count_span),
    rule("t?(?P<dur>d)(?P<mod>[LX])", spans.span()),
    rule("t?(?P<mod>[LX])(?P<dur>d)(?!ft?[ABIXLU])", spans.span()),
    rule("t?(?P<mod>[LXI])Z?(?P<unit>U)(?!f(?:t?[ABYM]|t?[LXI]?U))", periods.unit),
    rule("t?(?P<unit>U)(?P<mod>[LXI])", periods.unit),
    rule("g(?P<dur>d)", spans.ago(-1)),
    rule("(?P<dur>d)g", spans.ago(-1)),
    rule("[ij](?P<dur>d)(?![aesG])", spans.ago(1)),
    rule("(?P<dur>d)l(?!f)", spans.ago(1)),
]
_PARTS = [
    rule(f"t?(?P<number>[oOSL])(?P<wd>[WvV])[,]?{OF}{VALUE}", periods.select(periods.nth)),
    rule(f"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", periods.select(periods.nth)),
    rule(f"t?(?P<number>[oOL])(?P<dur>d){OF}{VALUE}", periods.select(periods.nth)),
    rule("(?P<value>A)[,-]?t?(?P<number>[oOS])(?P<unit>U)", periods.select(periods.nth)),
    rule(f"t?(?P<unit>U)(?P<number>N){OF}{VALUE}", periods.select(periods.nth)),
    rule("t?(?P<number>[oOS])(?P<unit>U)(?:ftU)?", periods.unit_number),
    rule(f"{FROM}{DAYS}{OF}(?P<outer>A)", spans.month_range),
    rule("t?(?P<day>[NOoS])f?t?(?P<outer>A)", days.day_within),
    rule("I(?P<mod>[LX])(?P<wd>[Wv])(?!f)", days.nearest_weekday),
    rule("I(?P<wd>[Wv])(?P<mod>[LX])", days.nearest_weekday),
    rule("t?(?P<mod>[LXI])(?P<wd>[Wv])(?!f)", days.modified_weekday),
    rule("t?(?P<wd>[Wv])(?P<mod>[LXI])", days.modified_weekday),
    rule("t?(?P<mod>[LXI])(?P<value>B)", periods.modified),
    rule("t?(?P<value>B)(?P<mod>[LX])", periods.modified),
    rule(r"(?P<wd>[Wv])(?:,?t?U?(?P<day>O)|,?(?:tU?)?(?P<day2>[No])(?![NMmUuHYwxd1]))", days.weekday_day),
    rule(f"t?(?P<wd>[WV])et?{VALUE}", days.weekday_beside(-1)),
    rule(f"t?(?P<wd>[WV])at?{VALUE}", days.weekday_beside(1)),
    rule(f"t(?P<unit>U)et?{VALUE}", periods.unit_beside(-1)),
    rule(f"t(?P<unit>U)at?{VALUE}", periods.unit_beside(1)),
    rule("[oOS](?:[Wv])", common.dead),
    rule("(?P<wd>W)", days.weekday),
    rule("(?<=[Aptskeab])t?(?P<wd>v)", days.weekday, keep="wd"),
    rule("(?<=B)[,&]?(?P<wd>v)", days.weekday, keep="wd"),
    rule("t?(?P<unit>U)(?P<day>[NOo])(?![Uu])", days.day_named),
    rule(f"t?@t?{VALUE}", periods.week_of),
    rule(f"t?(?P<unit>U)f?t?{VALUE}", periods.unit_around),
    rule("t?(?P<unit>U)ft?(?P<day>[ON])(?=[.,z&]|$)", periods.unit_of_day),
    rule("(?P<the>t)(?P<day>[NO])(?=[.,z&]|$)", _day),
    rule(rf"(?<=[keG])t?(?P<part>P)t?{VALUE}", periods.edge),
    rule(rf"(?<=b)t?(?P<part>P)t?{VALUE}(?=&)", periods.edge),
    rule(rf"(?<=[AB]&)t?(?P<part>P)t?{VALUE}", periods.edge),
    rule(rf"(?<=[sf])t?(?P<part>P)t?{VALUE}(?=[Gk])", periods.edge),
    rule(rf"t?(?P<part>P)t?{VALUE}", periods.part),
    rule("(?P<part>P)t?(?P<unit>U)", periods.unit_part),
]
_WITHIN = [
    rule(r"(?P<inner>B)(?:,|-|\()?[pif]?t?(?P<outer>A)\)?", periods.within),
    rule("(?P<outer>A)-?p?t?(?P<inner>B)", periods.within),
    rule("(?P<inner>B)f?t?(?P<outer>B)", periods.within),
    rule("(?P<dur>d)[as]t?(?P<value>[AB])", spans.shifted(1)),
    rule("(?P<dur>d)et?(?P<value>[AB])", spans.shifted(-1)),
]
_RELATIONS = [
    rule(rf"[sbf]?t?{LEFT}(?P<to>[Gk]|-)t?{RIGHT}", spans.between),
    rule(rf"b[pt]*{LEFT}&[pt]*{RIGHT}", spans.between),
    rule(rf"s?[pt]*{VALUE}>", spans.relation("since")),
    rule(rf"[pt]*{VALUE}<", spans.relation("until", inclusive=True)),
    rule(rf"s[pt]*{VALUE}", spans.relation("since")),
    rule(rf"at?{VALUE}", spans.relation("since", after=True)),
    rule(rf"[ke][pt]*{VALUE}", spans.relation("until")),
]
STAGES: list[list[Rule]] = [_NUMBERS, _DATES, _YEARS, _PERIODS, _PARTS, _WITHIN, _RELATIONS]
