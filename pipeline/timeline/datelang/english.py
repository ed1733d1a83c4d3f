"""The English grammar. Code letters are those of `english_words`; A is a settled date, B one that comes back."""

import re

from pipeline.timeline.datelang import common, days, periods, spans, values
from pipeline.timeline.datelang.cascade import Hit, Made, Rule, rule, token
from pipeline.timeline.datelang.english_words import LEXICON
from pipeline.timeline.datelang.latin import Lexer
from pipeline.timeline.datelang.numbers import join_numbers

lexer = Lexer(LEXICON)
prepare = join_numbers

FUTURE = re.compile(
    r"\b(?:will|won['’]t|shall|going to|gonna|plan(?:s|ned|ning)? (?:to|for|on)|let['’]s|upcoming|tomorrow|expects?"
    r"|book|schedule|set up|arrange|remind|hope to|due|deadline|next)\b|['’]ll\b"
)
PAST = re.compile(r"\b(?:was|were|had|did|didn't|used to|went|lived|worked|stayed|\w{3,}ed)\b")


def _ordinal(hit: Hit) -> Made:
    tens, ones = hit.number("tens"), hit.number("ones")
    return token("o", tens + ones) if tens in (20, 30) and ones < 10 else None


def _ambiguous(hit: Hit) -> Made:
    """ "march" and "may" without a capital are months only in a place where only a month stands."""
    sure = "sure" in hit
    return values.month(hit.number("month")) if sure or hit.item("month").proper else None


def _pair(hit: Hit) -> Made:
    """ "4/22", "22/04": month first unless only the other order is a date; small numbers need a word before them."""
    first, second, separator = hit.get("pair")
    if separator == "." and "wd" not in hit:
        return None
    placed = "sure" in hit or "both" in hit
    if (first, second) == (24, 7) or (not placed and (max(first, second) <= 12 or separator != "/")):
        return None
    return days.month_day_of(second, first) if first > 12 else days.month_day_of(first, second)


MONTH, DAY, YEAR, SEP = "(?P<month>[Mm])", "(?P<day>[NOoS])", "(?P<year>Y|y)", "[,/.-]?"
NAMED = "(?:[Wv][,(.-]*p?t?)?"
TO = "(?:[Gk]|-)"
DAYS = rf"t?(?P<first>[NOo])(?:{TO}|(?<=b.)&|(?<=bt.)&)t?(?P<last>[NOo])"
LEFT, RIGHT, VALUE = "(?P<left>[AB])", "(?P<right>[AB])", "(?P<value>[AB])"
OF = "[fi]?t?"

_NUMBERS = [
    rule("(?P<tens>N)-?(?P<ones>[oS])", _ordinal),
    rule("E[NOow]?[UuWvVMRB]", common.dead),
    rule(r"[Wv]\*", common.dead),
    rule("[N1]-?H[gl]?", common.dead),
    rule(r"(?P<count>N)\+(?P<unit>u)", spans.and_a_half),
    rule("(?P<parts>[N1]%?[Uu](?:(?:,&|,|&)?N%?[Uu])*)", spans.duration),
]
_DATES = [
    rule(rf"[Fb]?{DAYS}f?t?{MONTH}{SEP}f?(?P<year>[Yy])?", spans.days_of_month),
    rule(rf"[Fb](?P<first>N){TO}{MONTH}(?P<last>[NO])(?:,?(?P<year>[Yy]))?", spans.days_of_month),
    rule(rf"[Fbp]?{MONTH}b?{DAYS}(?!-?[MmU]){SEP}(?P<year>[Yy])?", spans.days_of_month),
    rule(rf"{NAMED}{MONTH}[/.-]?,?t?{DAY}(?![Uu]){SEP}f?i?{YEAR}", days.month_day),
    rule(rf"{NAMED}t?{DAY}(?P<word>U)?[-/]?f?t?{MONTH}{SEP}f?i?{YEAR}", days.month_day),
    rule(rf"{NAMED}t?{DAY}(?P<word>U)?f?t?{MONTH}f(?P<year>N)", days.month_day),
    rule(rf"{YEAR}[-/,]?{MONTH}[-/]{DAY}", days.month_day),
    rule(rf"{YEAR}[-/]{DAY}[-/]{MONTH}", days.month_day),
    rule(rf"t?{MONTH}[,/-]?f?i?t?{YEAR}", periods.month),
    rule(rf"{YEAR}[,-]*{MONTH}(?!N)", periods.month),
    rule(rf"{MONTH}f(?P<year>N)", periods.month),
    rule(rf"{NAMED}{MONTH}[/.-]?,?t?{DAY}(?![Uu])", days.month_day),
    rule(rf"{NAMED}t?{DAY}(?P<word>U)?[-/]?f?t?{MONTH}", days.month_day),
    rule("[Mm]-?[NO](?=[.,]|$)", common.dead),
    rule(rf"{DAY}[-/]{MONTH}[-/](?P<year>N)", days.month_day),
    rule("(?P<unit>U)(?P<number>N)(?![Uu])(?!ft?[LXI]U)(?:[,f]?(?P<year>[Yy]))?", periods.week_number),
    rule("(?P<year>Y)[-/](?P<month>N)(?![-/NUuwn])", periods.month),
    rule("(?<![-/N])(?P<month>N)[-/](?P<year>Y)(?![-/NUuw])", periods.month),
    rule(
        "(?P<sure>(?P<wd>[WvV])[,(]?|(?:(?:[pskeaFbGJ]|(?<=bn)&|(?<=[Fb]n)-)t?|[IXL]))?(?P<pair>n)(?P<both>-A)?",
        _pair,
        keep="pair",
    ),
    rule("(?<=p)(?P<month>N)-(?P<day>N)(?![-NMmUw])", days.month_day),
    rule("(?P<sure>[WvV][,(]?)(?=B)", lambda hit: token("p"), keep="sure"),
]
_YEARS = [
    rule("t?[Z]?(?P<unit>U)f?(?P<year>[YyN])(?![Uu])", periods.plain_year),
    rule("(?P<first>Y)[-G](?P<last>Y)(?![-/NwU])", spans.year_pair),
    rule("(?<=[i;skeabFGJP=r])t?(?P<year>[Yy])", periods.plain_year, keep="year"),
    rule("(?<=[iskeabFGJ])t?(?P<year>Y)(?=[.,)]|$)", periods.year, keep="year"),
    rule("(?<=Uf)t?(?P<year>[Yy])", periods.plain_year, keep="year"),
    rule("(?<=f)(?P<year>Y)(?=[.,z&)]|$)", periods.plain_year),
    rule("(?<=[RrQ])[,f/-]?(?P<year>[Yy])", periods.plain_year, keep="year"),
    rule("(?P<year>Y)(?=[,-]?[QR])", periods.plain_year),
    rule(r"(?<![^.(])(?P<year>Y)(?=[z.),]|$|n)", periods.plain_year),
    rule("(?P<year>Y)(?=>)", periods.plain_year),
    rule("(?<=A[&,G-])(?P<year>Y)(?![wNU])", periods.plain_year),
    rule("(?<=A,&)(?P<year>Y)(?![wNU])", periods.plain_year),
]
_PERIODS = [
    rule("t?(?P<decade>(?<=t)D|(?<=[iI])D)", periods.decade),
    rule("t?(?P<number>[Oo])-?(?P<unit>U)(?!f)", periods.century),
    rule("(?P<month>M)", periods.month),
    rule("(?P<sure>[ifseakPb@J])t?(?P<month>m)(?!x)", _ambiguous, keep="month"),
    rule("[FLXIC]t?(?P<month>m)", _ambiguous, keep="month"),
    rule("(?P<sure>[AB][Gk&,-])(?P<month>m)", _ambiguous, keep="month"),
    rule("(?P<month>m)(?P<sure>[G&-][AB])", _ambiguous, keep="month"),
    rule("(?P<part>Q)", periods.quarter),
    rule("(?P<season>[Rr])(?=[,f]?t?(?:A|[LXI]U))", periods.season),
    rule("(?<=[tLXIPsC])(?P<season>R)(?!w)", periods.season),
    rule("(?<=[LXI])(?P<season>r)(?!w)", periods.season),
    rule("(?<=it)(?P<season>r)(?!w)", periods.season),
    rule("(?P<offset>T)", days.offset_day),
    rule("(?<=[Gk-])_|(?<=[Fb])_|(?<=b.&)_", days.today),
    rule("t?~[It]?(?P<unit>U)", periods.rest(1)),
    rule("gI(?P<unit>U)", periods.rest(-1)),
    rule("git(?P<unit>U)", periods.rest(-1)),
    rule("lI(?P<unit>U)", periods.rest(1)),
    rule("lit(?P<unit>U)", periods.rest(1)),
    rule("t?(?P<unit>U)at?(?P<mod>X)", periods.unit_twice),
    rule("t?(?P<unit>U)e(?P<mod>L)", periods.unit_twice),
    rule("t?(?P<count>N)(?P<mod>[LXC])(?P<unit>u)", spans.count_span),
    rule("t?(?P<mod>[LXIC])Z?(?P<unit>U)(?!f(?:t?[ABYM]|[LXI]U))", periods.unit),
    rule(f"t?(?P<number>L)(?P<dur>d)ft?{VALUE}", periods.select(periods.nth)),
    rule("jt?[XC]?(?P<dur>d)", spans.span(1, from_today=True)),
    rule("t?(?P<mod>[LCX])(?P<dur>d)(?!ft?[ABIXL])", spans.span()),
    rule("(?P<dur>d)g", spans.ago(-1)),
    rule("(?P<dur>d)l", spans.ago(1)),
    rule("i(?P<dur>d)(?![aeF])", spans.ago(1)),
]
_PARTS = [
    rule(f"t?(?P<number>[oOSL])(?P<wd>[WvV])[,]?{OF}{VALUE}", periods.select(periods.nth)),
    rule(f"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", periods.select(periods.nth)),
    rule(f"t?(?P<number>[oL])(?P<dur>d){OF}{VALUE}", periods.select(periods.nth)),
    rule(f"t?(?P<unit>U)(?P<number>N){OF}{VALUE}", periods.select(periods.nth)),
    rule("t?(?P<number>[oOS])(?P<unit>U)(?:ftU)?", periods.unit_number),
    rule("t?(?P<day>[OoS])U?f?t?(?P<outer>A)", days.day_within),
    rule("[Fb]?t?(?P<first>[NOo])(?:[Gk-]|&)t?(?P<last>[NOo])(?:[fi]?t?)(?P<outer>A)", spans.month_range),
    rule("I(?P<mod>[CLX])(?P<wd>[Wv])(?!f)", days.nearest_weekday),
    rule("t?(?P<mod>C)(?P<wd>[Wv])", days.nearest_weekday),
    rule("t?(?P<mod>[LXI])(?P<wd>[Wv])(?!f)", days.modified_weekday),
    rule("t?(?P<mod>[LXIC])(?P<value>B)", periods.modified),
    rule("(?P<wd>[Wv])[,-]?t?(?P<day>O)", days.weekday_day),
    rule("(?P<wd>W)(?:t(?P<day>[No])|(?P<day2>N)(?![\\w]))", days.weekday_day),
    rule(f"t?(?P<wd>[WV])e{VALUE}", days.weekday_beside(-1)),
    rule(f"t?(?P<wd>[WV])a{VALUE}", days.weekday_beside(1)),
    rule(f"t(?P<unit>U)e{VALUE}", periods.unit_beside(-1)),
    rule(f"t(?P<unit>U)a{VALUE}", periods.unit_beside(1)),
    rule("[oOS](?:[Wv])", common.dead),
    rule("(?P<wd>W)(?!\\()", days.weekday),
    rule("(?<=[ApskeabFJ])t?(?P<wd>v)", days.weekday, keep="wd"),
    rule("t?(?P<day>[oO])Uft(?P<unit>U)", days.day_of_this),
    rule("(?:pt?|t)(?P<day>O)(?=[.,z&kGFJpisea)-]|$)(?!&w)", days.day_of_month),
    rule("(?<=[@])t?(?P<day>[ON])", days.day_of_month),
    rule(f"t?(?P<unit>U)f?t?{VALUE}", periods.unit_around),
    rule("t?(?P<unit>U)ft?(?P<day>[ON])(?=[.,z&]|$)", periods.unit_of_day),
    rule(rf"@t?{VALUE}", periods.week_of),
    rule(rf"(?<=[kJeG])t?(?P<part>P)-?f?t?{VALUE}", periods.edge),
    rule(rf"(?<=b)t?(?P<part>P)-?f?t?{VALUE}(?=&)", periods.edge),
    rule(rf"(?<=[AB]&)t?(?P<part>P)-?f?t?{VALUE}", periods.edge),
    rule(rf"(?<=F)t?(?P<part>P)-?f?t?{VALUE}(?=[Gk])", periods.edge),
    rule(rf"t?(?P<part>P)-?f?t?{VALUE}", periods.part),
    rule("(?P<part>P)t?(?P<unit>U)", periods.unit_part),
]
_WITHIN = [
    rule(r"(?P<inner>B)(?:,|-|\()?[pif]?t?(?P<outer>A)\)?", periods.within),
    rule("(?P<outer>A)-?p?t?(?P<inner>B)", periods.within),
    rule("(?P<inner>B)f?t?(?P<outer>B)", periods.within),
    rule(rf"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", periods.select(periods.nth)),
    rule(f"(?P<dur>d),?s{VALUE}", spans.stretch),
    rule("(?P<dur>d)(?:a|F)(?P<value>[AB])", spans.shifted(1)),
    rule("(?P<dur>d)e(?P<value>[AB])", spans.shifted(-1)),
]
_RELATIONS = [
    rule(rf"[Fb]?t?{LEFT}p?(?P<to>[Gk]|-)p?t?{RIGHT}", spans.between),
    rule(rf"bp?t?{LEFT}&p?t?{RIGHT}", spans.between),
    rule(rf"[sF]?p?t?{VALUE}>", spans.relation("since")),
    rule(rf"p?t?{VALUE}<", spans.relation("until", inclusive=True)),
    rule(rf"p?t?{VALUE}&a(?=[.,]|$)", spans.relation("since")),
    rule(rf"p?t?{VALUE}&e(?=[.,]|$)", spans.relation("until", inclusive=True)),
    rule(rf"[sF]p?t?{VALUE}", spans.relation("since")),
    rule(rf"at?{VALUE}", spans.relation("since", after=True)),
    rule(rf"(?P<to>[Gk])p?t?{VALUE}", spans.through),
    rule(rf"(?:k|J|e)p?t?{VALUE}", spans.relation("until")),
]
STAGES: list[list[Rule]] = [_NUMBERS, _DATES, _YEARS, _PERIODS, _PARTS, _WITHIN, _RELATIONS]
