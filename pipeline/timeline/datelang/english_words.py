"""English words of time, with the code letter that each has in the rules.

M month, m month that is also another word, W weekday, v likewise, U unit, u its plural, H unit of the clock, T day counted from
today, R season, r likewise, Q quarter or half, c/h number words, o/S ordinal words, L last, X next, C coming, I this,
g ago, l from now, _ now, @ week of, i in, j within, ; during, f of, t the, 1 a, p on, F from, G to, & and/or, b between, s since, k until, J by,
e before, a after, E every, P part (early, mid, late), > "or later", < "or earlier", % business, ~ rest of, + and a half, d duration, * repeated part of a day, w other words,
z other words that may follow a date.
"""

from pipeline.timeline.datelang.latin import Lexicon, Meaning
from pipeline.timeline.precision import Precision as P

MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

WORDS: dict[str, Meaning] = {}
WORDS |= {name: ("M", i) for i, name in enumerate(MONTHS, 1)}
WORDS |= {name[:3]: ("M", i) for i, name in enumerate(MONTHS, 1)}
WORDS |= {
    "sept": ("M", 9),
    "march": ("m", 3),
    "may": ("m", 5),
    "mar": ("m", 3),
    "dec": ("m", 12),
    "jan": ("m", 1),
}
WORDS |= {"jun": ("M", 6)}
WORDS |= {name: ("W", i) for i, name in enumerate(WEEKDAYS)} | {
    f"{name}s": ("V", i) for i, name in enumerate(WEEKDAYS)
}
WORDS |= {name: ("v", i) for i, name in enumerate(["mon", "tue", "wed", "thu", "fri", "sat", "sun"])}
WORDS |= {
    "tues": ("W", 1),
    "weds": ("W", 2),
    "thur": ("W", 3),
    "thurs": ("W", 3),
    "tue": ("W", 1),
    "thu": ("W", 3),
}
WORDS |= {"fri": ("W", 4)}

for _names, _unit in (
    ("day days", P.day),
    ("week weeks", P.week),
    ("weekend weekends", P.weekend),
    ("month months", P.month),
    ("quarter quarters", P.quarter),
    ("year years", P.year),
    ("yr yrs", P.year),
    ("decade decades", P.decade),
    ("century centuries", P.century),
    ("workday workdays", "workday"),
    ("fortnight fortnights", (P.week, 2)),
):
    _one, _many = _names.split()
    WORDS |= {_one: ("U", _unit), _many: ("u", _unit)}
WORDS |= dict.fromkeys(
    ["hour", "hours", "hr", "hrs", "minute", "minutes", "min", "mins", "seconds", "moment", "moments"],
    ("H", None),
)
WORDS |= {"today": ("T", 0), "tomorrow": ("T", 1), "yesterday": ("T", -1), "tmrw": ("T", 1), "tmr": ("T", 1)}
WORDS |= {"tonight": ("T", 0), "now": ("_", 0)}
WORDS |= {"summer": ("R", 2), "autumn": ("R", 3), "winter": ("R", 4), "spring": ("r", 1), "fall": ("r", 3)}
WORDS |= {f"q{i}": ("Q", (P.quarter, i)) for i in range(1, 5)} | {
    f"h{i}": ("Q", (P.half_year, i)) for i in (1, 2)
}

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
)
_ONES += " seventeen eighteen nineteen"
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
CARDINALS = {name: i for i, name in enumerate(_ONES.split())} | {
    name: 10 * i for i, name in enumerate(_TENS, 2)
}
WORDS |= {name: ("c", value) for name, value in CARDINALS.items()} | {
    "hundred": ("h", 100),
    "thousand": ("h", 1000),
}
WORDS |= {"oh": ("w", None), "couple": ("N", 2), "few": ("N", 3), "several": ("N", 3)}
ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]
WORDS |= {name: ("o", i) for i, name in enumerate(ORDINALS, 1)} | {"second": ("S", 2), "thirtieth": ("o", 30)}
WORDS |= {
    f"{name}s": ("D", 10 * i) for i, name in ((2, "twentie"), (3, "thirtie"), (4, "fortie"), (5, "fiftie"))
}
WORDS |= {
    f"{name}s": ("D", 10 * i)
    for i, name in ((6, "sixtie"), (7, "seventie"), (8, "eightie"), (9, "ninetie"), (0, "noughtie"))
}

WORDS |= dict.fromkeys(["last", "previous", "past", "preceding"], ("L", -1))
WORDS |= {"past": ("C", -1), "coming": ("C", 1), "upcoming": ("C", 1)}
WORDS |= dict.fromkeys(["next", "following"], ("X", 1))
WORDS |= dict.fromkeys(["this", "current"], ("I", 0))
WORDS |= {
    "ago": ("g", None),
    "hence": ("l", None),
    "later": ("l", None),
    "earlier": ("g", None),
    "back": ("z", None),
}
WORDS |= {
    "in": ("i", None),
    "during": (";", None),
    "within": ("j", None),
    "of": ("f", None),
    "the": ("t", None),
}
WORDS |= {"a": ("1", 1), "an": ("1", 1), "on": ("p", None), "at": ("w", None), "by": ("J", None)}
WORDS |= {
    "from": ("F", None),
    "to": ("G", "to"),
    "till": ("k", None),
    "until": ("k", None),
    "til": ("k", None),
}
WORDS |= {"through": ("G", "through"), "thru": ("G", "through"), "and": ("&", "and"), "or": ("&", "or")}
WORDS |= {"between": ("b", None), "since": ("s", None), "before": ("e", None), "after": ("a", None)}
WORDS |= {"every": ("E", None), "each": ("E", None), "any": ("E", None), "some": ("E", None)}
WORDS |= dict.fromkeys(["mornings", "afternoons", "evenings", "nights"], ("*", None))
WORDS |= {"early": ("P", 1), "mid": ("P", 2), "late": ("P", 3)}
WORDS |= {"business": ("%", None), "working": ("%", None), "calendar": ("Z", None), "fiscal": ("Z", None)}
WORDS |= {"starting": ("s", None), "beginning": ("s", None), "onwards": (">", None), "onward": (">", None)}
WORDS |= {
    "commencing": ("s", None),
    "over": (";", None),
    "for": ("z", "for"),
    "around": ("p", None),
    "about": ("p", None),
}
_SAFE = (
    "i we he she they you it my our his her their your but when while where which who with without because as so if"
    " then is was are were be been has had have will would should could can did do does not also just there here"
    " i'm i've i'll i'd we're we've we'll he's she's it's they're they've they'll that's please only already until"
)
WORDS |= {name: ("z", None) for name in _SAFE.split() if name not in WORDS}

PHRASES: dict[str, Meaning] = {
    "last night": ("T", -1),
    "this morning": ("T", 0),
    "this afternoon": ("T", 0),
    "this evening": ("T", 0),
    "half a year": ("d", [(6, P.month)]),
    "half a decade": ("d", [(5, P.year)]),
    "half a century": ("d", [(50, P.year)]),
    "a year and a half": ("d", [(18, P.month)]),
    "a month and a half": ("d", [(1, P.month), (15, P.day)]),
    "and a half": ("+", None),
    "black friday": ("w", None),
    "good friday": ("w", None),
    "casual friday": ("w", None),
    "cyber monday": ("w", None),
    "easter monday": ("w", None),
    "easter sunday": ("w", None),
    "palm sunday": ("w", None),
    "ash wednesday": ("w", None),
    "super tuesday": ("w", None),
    "the day before yesterday": ("T", -2),
    "day before yesterday": ("T", -2),
    "the day after tomorrow": ("T", 2),
    "day after tomorrow": ("T", 2),
    "the day after tmrw": ("T", 2),
    "from now": ("l", None),
    "couple of": ("N", 2),
    "a couple of": ("N", 2),
    "a couple": ("N", 2),
    "a few": ("N", 3),
    "the other day": ("w", None),
    "day after day": ("w", None),
    "day by day": ("w", None),
    "to date": ("w", None),
    "as of": ("s", None),
    "ever since": ("s", None),
    "starting on": ("s", None),
    "starting from": ("s", None),
    "beginning on": ("s", None),
    "as early as": ("s", None),
    "prior to": ("e", None),
    "earlier than": ("e", None),
    "no later than": ("e", None),
    "not later than": ("e", None),
    "as late as": ("k", "through"),
    "up until": ("k", None),
    "up to": ("k", None),
    "later than": ("a", None),
    "greater than": ("a", None),
    "or later than": ("a", None),
    "and later than": ("a", None),
    "or later": (">", None),
    "and later": (">", None),
    "and greater": (">", None),
    "or earlier": ("<", None),
    "beginning of": ("P", 1),
    "the beginning of": ("P", 1),
    "start of": ("P", 1),
    "the start of": ("P", 1),
    "middle of": ("P", 2),
    "the middle of": ("P", 2),
    "first half of": ("P", 4),
    "the first half of": ("P", 4),
    "second half of": ("P", 5),
    "the second half of": ("P", 5),
    "rest of": ("~", None),
    "remainder of": ("~", None),
    "end of": ("P", 3),
    "the end of": ("P", 3),
    "week commencing": ("@", None),
    "the week commencing": ("@", None),
    "the week beginning": ("@", None),
    "the week beginning on": ("@", None),
    "the week starting": ("@", None),
    "the week starting on": ("@", None),
    "w/c": ("@", None),
    "may be": ("w", None),
    "may have": ("w", None),
    "may not": ("w", None),
    "may well": ("w", None),
    "right now": ("w", None),
    "by now": ("w", None),
    "from now on": ("w", None),
    "until now": ("w", None),
    "up to date": ("w", None),
    "at the end of the day": ("w", None),
    "the first time": ("w", None),
    "will last": ("w", None),
    "would last": ("w", None),
    "to last": ("w", None),
    "can last": ("w", None),
    "last name": ("w", None),
}

LEXICON = Lexicon(
    words=WORDS,
    phrases=PHRASES,
    suffixes={"st": "O", "nd": "O", "rd": "O", "th": "O", "s": "D"},
    day_first=False,
    names=frozenset({"april", "june"}),
)
