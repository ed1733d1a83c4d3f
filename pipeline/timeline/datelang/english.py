"""The English grammar. Code letters are those of `english_words`; A is a settled date, B one that comes back."""

import re

from pipeline.timeline.datelang import build, values
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
    return build.month_day_of(second, first) if first > 12 else build.month_day_of(first, second)


MONTH, DAY, YEAR, SEP = "(?P<month>[Mm])", "(?P<day>[NOoS])", "(?P<year>Y|y)", "[,/.-]?"
NAMED = "(?:[Wv][,(.-]*p?t?)?"
TO = "(?:[Gk]|-)"
DAYS = rf"t?(?P<first>[NOo])(?:{TO}|(?<=b.)&|(?<=bt.)&)t?(?P<last>[NOo])"
LEFT, RIGHT, VALUE = "(?P<left>[AB])", "(?P<right>[AB])", "(?P<value>[AB])"
OF = "[fi]?t?"

_NUMBERS = [
    rule("(?P<tens>N)-?(?P<ones>[oS])", _ordinal),
    rule("E[NOow]?[UuWvVMRB]", build.dead),
    rule(r"[Wv]\*", build.dead),
    rule("[N1]-?H[gl]?", build.dead),
    rule(r"(?P<count>N)\+(?P<unit>u)", build.and_a_half),
    rule("(?P<parts>[N1]%?[Uu](?:(?:,&|,|&)?N%?[Uu])*)", build.duration),
]
_DATES = [
    rule(rf"[Fb]?{DAYS}f?t?{MONTH}{SEP}f?(?P<year>[Yy])?", build.days_of_month),
    rule(rf"[Fb](?P<first>N){TO}{MONTH}(?P<last>[NO])(?:,?(?P<year>[Yy]))?", build.days_of_month),
    rule(rf"[Fbp]?{MONTH}b?{DAYS}(?!-?[MmU]){SEP}(?P<year>[Yy])?", build.days_of_month),
    rule(rf"{NAMED}{MONTH}[/.-]?,?t?{DAY}(?![Uu]){SEP}f?i?{YEAR}", build.month_day),
    rule(rf"{NAMED}t?{DAY}U?[-/]?f?t?{MONTH}{SEP}f?i?{YEAR}", build.month_day),
    rule(rf"{NAMED}t?{DAY}U?f?t?{MONTH}f(?P<year>N)", build.month_day),
    rule(rf"{YEAR}[-/,]?{MONTH}[-/]{DAY}", build.month_day),
    rule(rf"{YEAR}[-/]{DAY}[-/]{MONTH}", build.month_day),
    rule(rf"t?{MONTH}[,/-]?f?i?t?{YEAR}", build.month),
    rule(rf"{YEAR}[,-]*{MONTH}(?!N)", build.month),
    rule(rf"{MONTH}f(?P<year>N)", build.month),
    rule(rf"{NAMED}{MONTH}[/.-]?,?t?{DAY}(?![Uu])", build.month_day),
    rule(rf"{NAMED}t?{DAY}U?[-/]?f?t?{MONTH}", build.month_day),
    rule("[Mm]-?[NO](?=[.,]|$)", build.dead),
    rule(rf"{DAY}[-/]{MONTH}[-/](?P<year>N)", build.month_day),
    rule("(?P<unit>U)(?P<number>N)(?![Uu])(?!ft?[LXI]U)(?:[,f]?(?P<year>[Yy]))?", build.week_number),
    rule("(?P<year>Y)[-/](?P<month>N)(?![-/NUuwn])", build.month),
    rule("(?<![-/N])(?P<month>N)[-/](?P<year>Y)(?![-/NUuw])", build.month),
    rule("(?P<sure>(?P<wd>[WvV])[,(]?|(?:(?:[pskeaFbGJ]|(?<=bn)&|(?<=[Fb]n)-)t?|[IXL]))?(?P<pair>n)(?P<both>-A)?", _pair, keep="pair"),
    rule("(?<=p)(?P<month>N)-(?P<day>N)(?![-NMmUw])", build.month_day),
    rule("(?P<sure>[WvV][,(]?)(?=B)", lambda hit: token("p"), keep="sure"),
]
_YEARS = [
    rule("t?[Z]?(?P<unit>U)f?(?P<year>[YyN])(?![Uu])", build.plain_year),
    rule("(?P<first>Y)[-G](?P<last>Y)(?![-/NwU])", build.year_pair),
    rule("(?<=[i;skeabFGJP=r])t?(?P<year>[Yy])", build.plain_year, keep="year"),
    rule("(?<=[iskeabFGJ])t?(?P<year>Y)(?=[.,)]|$)", build.year, keep="year"),
    rule("(?<=Uf)t?(?P<year>[Yy])", build.plain_year, keep="year"),
    rule("(?<=f)(?P<year>Y)(?=[.,z&)]|$)", build.plain_year),
    rule("(?<=[RrQ])[,f/-]?(?P<year>[Yy])", build.plain_year, keep="year"),
    rule("(?P<year>Y)(?=[,-]?[QR])", build.plain_year),
    rule(r"(?<![^.(])(?P<year>Y)(?=[z.),]|$|n)", build.plain_year),
    rule("(?<=A[&,G-])(?P<year>Y)(?![wNU])", build.plain_year),
    rule("(?<=A,&)(?P<year>Y)(?![wNU])", build.plain_year),
]
_PERIODS = [
    rule("t?(?P<decade>(?<=t)D|(?<=[iI])D)", build.decade),
    rule("t?(?P<number>[Oo])-?(?P<unit>U)(?!f)", build.century),
    rule("(?P<month>M)", build.month),
    rule("(?P<sure>[ifseakPb@J])t?(?P<month>m)(?!x)", _ambiguous, keep="month"),
    rule("[FGLXIC]t?(?P<month>m)", _ambiguous, keep="month"),
    rule("(?P<sure>B[G&,-])(?P<month>m)", _ambiguous, keep="month"),
    rule("(?P<month>m)(?P<sure>[G&-][AB])", _ambiguous, keep="month"),
    rule("(?P<part>Q)", build.quarter),
    rule("(?P<season>[Rr])(?=[,f]?t?(?:A|[LXI]U))", build.season),
    rule("(?<=[tLXIPsC])(?P<season>R)(?!w)", build.season),
    rule("(?<=[LXI])(?P<season>r)(?!w)", build.season),
    rule("(?<=it)(?P<season>r)(?!w)", build.season),
    rule("(?P<offset>T)", build.offset_day),
    rule("(?<=[Gk&-])(?P<now>_)|(?<=[Fb])(?P<now2>_)", build.today),
    rule("gI(?P<unit>U)", build.rest(-1)),
    rule("git(?P<unit>U)", build.rest(-1)),
    rule("lI(?P<unit>U)", build.rest(1)),
    rule("lit(?P<unit>U)", build.rest(1)),
    rule("t?(?P<unit>U)at?(?P<mod>X)", build.unit_twice),
    rule("t?(?P<unit>U)e(?P<mod>L)", build.unit_twice),
    rule("t?(?P<count>N)(?P<mod>[LXC])(?P<unit>[Uu])", build.count_span),
    rule("t?(?P<mod>[LXIC])Z?(?P<unit>U)(?!f(?:t?[ABYM]|[LXI]U))", build.unit),
    rule(f"t?(?P<number>L)(?P<dur>d)ft?{VALUE}", build.select(build.nth)),
    rule("jt?[XC]?(?P<dur>d)", build.span(1, from_today=True)),
    rule("t?(?P<mod>[LCX])(?P<dur>d)(?!ft?[ABIXL])", build.span()),
    rule("(?P<dur>d)g", build.ago(-1)),
    rule("(?P<dur>d)l", build.ago(1)),
    rule("i(?P<dur>d)(?![aeF])", build.ago(1)),
]
_PARTS = [
    rule(f"t?(?P<number>[oOSL])(?P<wd>[WvV])[,]?{OF}{VALUE}", build.select(build.nth)),
    rule(f"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", build.select(build.nth)),
    rule(f"t?(?P<number>[oL])(?P<dur>d){OF}{VALUE}", build.select(build.nth)),
    rule(f"t?(?P<unit>U)(?P<number>N){OF}{VALUE}", build.select(build.nth)),
    rule("t?(?P<number>[oOS])(?P<unit>U)(?:ftU)?", build.unit_number),
    rule(f"t?(?P<day>[OoS])U?f?t?(?P<outer>A)", build.day_within),
    rule("[Fb]?t?(?P<first>[NOo])(?:[Gk-]|&)t?(?P<last>[NOo])(?:[fi]?t?)(?P<outer>A)", build.month_range),
    rule(f"I(?P<mod>[CLX])(?P<wd>[Wv])(?!f)", build.nearest_weekday),
    rule("t?(?P<mod>C)(?P<wd>[Wv])", build.nearest_weekday),
    rule("t?(?P<mod>[LXI])(?P<wd>[Wv])(?!f)", build.modified_weekday),
    rule("t?(?P<mod>[LXIC])(?P<value>B)", build.modified),
    rule("(?P<wd>[Wv])[,-]?t?(?P<day>O)", build.weekday_day),
    rule("(?P<wd>W)(?:t(?P<day>[No])|(?P<day2>N)(?![\\w]))", build.weekday_day),
    rule("[oOS](?:[Wv])", build.dead),
    rule("(?P<wd>W)(?!\\()", build.weekday),
    rule("(?<=[ApskeabFJ])t?(?P<wd>v)", build.weekday, keep="wd"),
    rule("t?(?P<day>[oO])Uft(?P<unit>U)", build.day_of_this),
    rule("(?:pt?|t)(?P<day>O)(?=[.,z&kGFJpisea)-]|$)(?!&w)", build.day_of_month),
    rule("(?<=[@])t?(?P<day>[ON])", build.day_of_month),
    rule(f"t?(?P<unit>U)f?t?{VALUE}", build.unit_around),
    rule("t?(?P<unit>U)ft?(?P<day>[ON])(?=[.,z&]|$)", build.unit_of_day),
    rule(rf"@t?{VALUE}", build.week_of),
    rule(rf"(?<=[kJeG])t?(?P<part>P)-?f?t?{VALUE}", build.edge),
    rule(rf"(?<=b)t?(?P<part>P)-?f?t?{VALUE}(?=&)", build.edge),
    rule(rf"(?<=[AB]&)t?(?P<part>P)-?f?t?{VALUE}", build.edge),
    rule(rf"(?<=F)t?(?P<part>P)-?f?t?{VALUE}(?=[Gk])", build.edge),
    rule(rf"t?(?P<part>P)-?f?t?{VALUE}", build.part),
    rule("(?P<part>P)t?(?P<unit>U)", build.unit_part),
]
_WITHIN = [
    rule(r"(?P<inner>B)(?:,|-|\()?[pif]?t?(?P<outer>A)\)?", build.within),
    rule("(?P<outer>A)-?p?t?(?P<inner>B)", build.within),
    rule("(?P<inner>B)f?t?(?P<outer>B)", build.within),
    rule(rf"t?(?P<number>[oOSL])(?P<unit>U){OF}{VALUE}", build.select(build.nth)),
    rule(f"(?P<dur>d),?s{VALUE}", build.stretch),
    rule("(?P<dur>d)(?:a|F)(?P<value>[AB])", build.shifted(1)),
    rule("(?P<dur>d)e(?P<value>[AB])", build.shifted(-1)),
]
_RELATIONS = [
    rule(rf"[Fb]?t?{LEFT}p?(?P<to>[Gk]|-)p?t?{RIGHT}", build.between),
    rule(rf"bp?t?{LEFT}&p?t?{RIGHT}", build.between),
    rule(rf"[sF]?p?t?{VALUE}>", build.relation("since")),
    rule(rf"p?t?{VALUE}<", build.relation("until", inclusive=True)),
    rule(rf"p?t?{VALUE}&a(?=[.,]|$)", build.relation("since")),
    rule(rf"p?t?{VALUE}&e(?=[.,]|$)", build.relation("until", inclusive=True)),
    rule(rf"[sF]p?t?{VALUE}", build.relation("since")),
    rule(rf"at?{VALUE}", build.relation("since", after=True)),
    rule(rf"(?:k|J|e)p?t?{VALUE}", build.relation("until")),
    rule(rf"(?P<to>G)t?{VALUE}", build.through),
]
STAGES: list[list[Rule]] = [_NUMBERS, _DATES, _YEARS, _PERIODS, _PARTS, _WITHIN, _RELATIONS]
