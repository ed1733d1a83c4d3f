"""The Spanish grammar. Code letters are those of `spanish_words`; A is a settled date, B one that comes back."""

import re

from pipeline.timeline.datelang import build, values
from pipeline.timeline.datelang.cascade import Hit, Made, Rule, rule, token
from pipeline.timeline.datelang.latin import Lexer
from pipeline.timeline.datelang.numbers import join_numbers
from pipeline.timeline.datelang.spanish_words import LEXICON

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


def _pair(hit: Hit) -> Made:
    """ "22/4", "4/22": day first unless only the other order is a date; small numbers need a word before them."""
    first, second, separator = hit.get("pair")
    if separator == "." and "wd" not in hit:
        return None
    placed = "sure" in hit or "both" in hit
    if (first, second) == (24, 7) or (not placed and (max(first, second) <= 12 or separator != "/")):
        return None
    return build.month_day_of(first, second) if second > 12 else build.month_day_of(second, first)


def _dash(hit: Hit) -> Made:
    first, second = hit.number("first"), hit.number("second")
    return build.month_day_of(first, second) if second > 12 else build.month_day_of(second, first)


def _of_number(hit: Hit) -> Made:
    """ "el 17 del 11"."""
    return build.month_day_of(hit.number("month"), hit.number("day")) if hit.get("of") == "del" else None


def _day(hit: Hit) -> Made:
    """ "el 15": only the masculine article and digits name a day of the month."""
    item = hit.item("day")
    return build.day_of_month(hit) if item.proper and hit.get("the") == "el" else None


def _decade(hit: Hit) -> Made:
    """ "los años 90", "la década de 1990"."""
    unit, number = hit.get("unit"), hit.number("decade")
    if number % 10 or (unit is not build.Precision.decade and hit.item("unit").code != "u"):
        return None
    return build.decade(hit)


def _years_and_a_half(hit: Hit) -> Made:
    return token("d", [(12 * hit.number("count") + 6, build.Precision.month)])


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
    rule(r"Et?[NOo]?[UuWvVMRB]", build.dead),
    rule(r"[Wv]\*", build.dead),
    rule("(?<=t)V", build.dead),
    rule("[N1]-?H|gH", build.dead),
    rule("(?P<the>t)[Wv]", build.repeated),
    rule(r"(?P<count>N)\+", _years_and_a_half),
    rule("(?P<parts>[N1][Uu]%?(?:(?:,&|,|&)?[N1][Uu])*)", build.duration),
]
_DATES = [
    rule(rf"{FROM}{DAYS}f?t?{MONTH}(?:{SEP}{YEAR})?", build.days_of_month),
    rule(rf"{FROM}{MONTH}{DAYS}(?![-/Uu])(?:{SEP}{YEAR})?", build.days_of_month),
    rule(rf"{NAMED}(?:tU)?t?{DAY}[-/.]?f?{MONTH}{SEP}{YEAR}", build.month_day),
    rule(rf"(?P<day>N)[-/]{MONTH}[-/](?P<year>N)", build.month_day),
    rule(rf"{NAMED}(?:tU)?t?{DAY}[-/.]?f?{MONTH}", build.month_day),
    rule(rf"{NAMED}{MONTH}[,-]?{DAY}{SEP}{YEAR}", build.month_day),
    rule(rf"{NAMED}{MONTH}[-/]?(?P<day>[NOo])(?![Uu])", build.month_day),
    rule(rf"{YEAR}[-/]{MONTH}[-/]{DAY}", build.month_day),
    rule(rf"{MONTH}{SEP}{YEAR}", build.month),
    rule(rf"{YEAR}[,-]*{MONTH}(?!N)", build.month),
    rule(rf"{MONTH}f(?P<year>N)", build.month),
    rule(r"(?P<day>N)f(?P<month>N)f(?P<year>Y)", build.month_day),
    rule("t?(?P<unit>U)(?P<number>N)(?![Uu])(?!ft?(?:[LXI]U|U[LXI]))(?:[,f]?(?P<year>[Yy]))?", build.week_number),
    rule("(?P<year>Y)[-/](?P<month>N)(?![-/NUuwn])", build.month),
    rule("(?<![-/N])(?P<month>N)[-/.](?P<year>Y)(?![-/NUuw])", build.month),
    rule("(?P<sure>(?P<wd>[WvV])[,(]?|(?:(?:[pskeabfGi]|(?<=bn)&|(?<=bn)&t|(?<=[sb]n)-)t?|[IXLt]))?(?P<pair>n)(?P<both>-A)?", _pair, keep="pair"),
    rule("(?<=[ti])(?P<first>N)-(?P<second>N)(?![-NMmUuwf])", _dash),
    rule(r"(?<=t)(?P<day>N)(?P<of>f)(?P<month>N)(?![\w])", _of_number),
    rule("(?P<sure>[WvV][,(]?)(?=B)", lambda hit: token("p"), keep="sure"),
]
_YEARS = [
    rule(f"t?{UNIT}f?t?(?P<decade>[YN])(?![Uu])", _decade),
    rule(f"t?{UNIT}Z?f?(?P<year>[YyN])(?![Uu])", build.plain_year),
    rule("(?P<the>t)(?P<decade>Y)", build.decade_named),
    rule("(?P<first>Y)[-G](?P<last>Y)(?![-/NwU])", build.year_pair),
    rule("(?<=[iskeabfGP=])t?(?P<year>[Yy])(?![Uu])", build.plain_year, keep="year"),
    rule("(?<=[iskeabfG])t?(?P<year>Y)(?=[.,)k]|$|GY)", build.year, keep="year"),
    rule("(?<=[ke&b])(?P<year>Y)", build.plain_year, keep="year"),
    rule("(?<=[RQ])(?:f|[,/-])?t?(?P<year>[Yy])", build.plain_year, keep="year"),
    rule("(?<=U)[f-]?t?(?P<year>Y)(?=[.,]|$)", build.plain_year, keep="year"),
    rule("(?P<year>Y)(?=[,-]?t?[oQR])", build.plain_year),
    rule(r"(?<![^.(])(?P<year>Y)(?=[z.),>]|$)", build.plain_year),
    rule("(?<=A[&,G-])(?P<year>Y)(?![wNUu])", build.plain_year),
]
_PERIODS = [
    rule("t?(?P<unit>U)(?P<number>!)", build.century),
    rule("(?P<month>M)", build.month),
    rule("(?<=[ifskeab&G-])t?(?P<month>m)", _month, keep="month"),
    rule("(?P<part>Q)", build.quarter),
    rule("(?P<season>R)(?=[,f]?t?(?:A|[LXI]U|U[LXI]))", build.season),
    rule("(?<=[tLXIPsi])(?P<season>R)(?!w)", build.season),
    rule("(?P<season>R)(?=[LXI])", build.season),
    rule("(?P<offset>T)", build.offset_day),
    rule("(?<=[Gk&-])(?P<now>_)|(?<=[sb])(?P<now2>_)", build.today),
    rule("~[fi]?[It]?(?P<unit>U)", build.rest(1)),
    rule('"[fi]?[It]?(?P<unit>U)', build.rest(-1)),
    rule("t?(?P<unit>U)at?(?P<mod>X)", build.unit_twice),
    rule("(?:j|p)t?(?P<mod>X)(?P<dur>d)", build.span(1, from_today=True)),
    rule("t?(?P<count>N)(?P<mod>[LX])(?P<unit>[Uu])", build.count_span),
    rule("t?(?P<dur>d)(?P<mod>[LX])", build.span()),
    rule("t?(?P<mod>[LX])(?P<dur>d)(?!ft?[ABIXLU])", build.span()),
    rule("t?(?P<mod>[LXI])Z?(?P<unit>U)(?!f(?:t?[ABYM]|t?[LXI]?U))", build.unit),
    rule("t?(?P<unit>U)(?P<mod>[LXI])", build.unit),
    rule("g(?P<dur>d)", build.ago(-1)),
    rule("(?P<dur>d)g", build.ago(-1)),
    rule("[ij](?P<dur>d)(?![aesG])", build.ago(1)),
    rule("(?P<dur>d)l(?!f)", build.ago(1)),
]
_PARTS = [
    rule(f"t?(?P<number>[oOSL])(?P<wd>[WvV])[,]?{OF}{VALUE}", build.select(build.nth)),
    rule(f"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", build.select(build.nth)),
    rule(f"t?(?P<number>[oOL])(?P<dur>d){OF}{VALUE}", build.select(build.nth)),
    rule(f"(?P<value>A)[,-]?t?(?P<number>[oOS])(?P<unit>U)", build.select(build.nth)),
    rule(f"t?(?P<unit>U)(?P<number>N){OF}{VALUE}", build.select(build.nth)),
    rule("t?(?P<number>[oOS])(?P<unit>U)(?:ftU)?", build.unit_number),
    rule(f"{FROM}{DAYS}{OF}(?P<outer>A)", build.month_range),
    rule("t?(?P<day>[NOoS])f?t?(?P<outer>A)", build.day_within),
    rule("I(?P<mod>[LX])(?P<wd>[Wv])(?!f)", build.nearest_weekday),
    rule("I(?P<wd>[Wv])(?P<mod>[LX])", build.nearest_weekday),
    rule("t?(?P<mod>[LXI])(?P<wd>[Wv])(?!f)", build.modified_weekday),
    rule("t?(?P<wd>[Wv])(?P<mod>[LXI])", build.modified_weekday),
    rule("t?(?P<mod>[LXI])(?P<value>B)", build.modified),
    rule("t?(?P<value>B)(?P<mod>[LX])", build.modified),
    rule(r"(?P<wd>[Wv])(?:,?t?U?(?P<day>O)|,?(?:tU?)?(?P<day2>[No])(?![NMmUuHYwxd1]))", build.weekday_day),
    rule("[oOS](?:[Wv])", build.dead),
    rule("(?P<wd>W)", build.weekday),
    rule("(?<=[Aptskeab])t?(?P<wd>v)", build.weekday, keep="wd"),
    rule("(?<=B)[,&]?(?P<wd>v)", build.weekday, keep="wd"),
    rule("t?(?P<unit>U)(?P<day>[NOo])(?![Uu])", build.day_named),
    rule(f"t?@t?{VALUE}", build.week_of),
    rule(f"t?(?P<unit>U)f?t?{VALUE}", build.unit_around),
    rule("t?(?P<unit>U)ft?(?P<day>[ON])(?=[.,z&]|$)", build.unit_of_day),
    rule("(?P<the>t)(?P<day>[NO])(?=[.,z&]|$)", _day),
    rule(rf"(?<=[keG])t?(?P<part>P)t?{VALUE}", build.edge),
    rule(rf"(?<=b)t?(?P<part>P)t?{VALUE}(?=&)", build.edge),
    rule(rf"(?<=[AB]&)t?(?P<part>P)t?{VALUE}", build.edge),
    rule(rf"(?<=[sf])t?(?P<part>P)t?{VALUE}(?=[Gk])", build.edge),
    rule(rf"t?(?P<part>P)t?{VALUE}", build.part),
    rule("(?P<part>P)t?(?P<unit>U)", build.unit_part),
]
_WITHIN = [
    rule(r"(?P<inner>B)(?:,|-|\()?[pif]?t?(?P<outer>A)\)?", build.within),
    rule("(?P<outer>A)-?p?t?(?P<inner>B)", build.within),
    rule("(?P<inner>B)f?t?(?P<outer>B)", build.within),
    rule("(?P<dur>d)[as]t?(?P<value>[AB])", build.shifted(1)),
    rule("(?P<dur>d)et?(?P<value>[AB])", build.shifted(-1)),
]
_RELATIONS = [
    rule(rf"[sbf]?t?{LEFT}(?P<to>[Gk]|-)t?{RIGHT}", build.between),
    rule(rf"b[pt]*{LEFT}&[pt]*{RIGHT}", build.between),
    rule(rf"s?[pt]*{VALUE}>", build.relation("since")),
    rule(rf"[pt]*{VALUE}<", build.relation("until", inclusive=True)),
    rule(rf"s[pt]*{VALUE}", build.relation("since")),
    rule(rf"at?{VALUE}", build.relation("since", after=True)),
    rule(rf"[ke][pt]*{VALUE}", build.relation("until")),
]
STAGES: list[list[Rule]] = [_NUMBERS, _DATES, _YEARS, _PERIODS, _PARTS, _WITHIN, _RELATIONS]
