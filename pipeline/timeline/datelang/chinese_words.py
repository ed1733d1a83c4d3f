"""Chinese words of time, with the code letter that each has in the rules, and the reading of numerals.

N number, Y year number, y 年, m 月, r 日 and 号, t 天, w week, c 个, j quarter, h half-year, W weekday, E weekend,
L last, this, next (-2 to 2), T day counted from today, R year counted from this one, Q half of a year, P part of
something, S season, s century, g decade, o ordinal mark, l last of, p past stretch, u coming stretch, e before, a after,
> or after, < or before, " onwards, F from, G to, k until, & and, b between, f of, i in, = is, x anything else.
"""

import re

SIMPLIFIED = str.maketrans(
    "週個後禮號點兩從間內來這當歲過開終於結與現幾鐘時還說為將會計劃備準訂",
    "周个后礼号点两从间内来这当岁过开终于结与现几钟时还说为将会计划备准订",
)
_NUMERALS = "零〇一二三四五六七八九十百千两廿"
_DIGITS = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_UNITS = {"十": 10, "百": 100, "千": 1000}
_WEEKDAY = {c: i for i, c in enumerate("一二三四五六日")} | {"天": 6}

# ordered: what comes first wins at one place of the text
LEXEMES: tuple[tuple[str, str, object], ...] = (
    ("x", r"《[^》]{0,40}》", None),
    ("x", r"https?://\S+|[@#$¥￥]\s?\w+|[A-Za-z][\w.-]*|\d+(?:\.\d+)?\s*[%％]", None),
    (
        "x",
        r"今日头条|明日之后|周年|周边|周围|周到|周岁|号(?:线|楼|房|门|馆|店|桌|机|车|院|站|位|码|召)|月(?:亮|饼|球)|[一二三四五六七八九十]角",
        None,
    ),
    (
        "x",
        r"日(?:本|常|志|记|报|程|语|文)|天(?:气|空|津|堂|使)|年(?:轻|龄|级|纪|度|货|终)|第一次|星期几|周几",
        None,
    ),
    (
        "x",
        r"每(?:隔)?(?:一)?个?(?:[一二三四五六七八九十\d]*)(?:天|日|周末|周[一二三四五六日天]?|星期[一二三四五六日天]?|礼拜[一二三四五六日天]?|月|年|季度?)",
        None,
    ),
    ("num", r"\d[\d./-]*\d|\d", None),
    ("W", r"(?:星期|礼拜|周)(?P<wd>[一二三四五六日天])(?![个周年月天])", None),
    ("E", r"周末", None),
    ("T", r"大前[天日]", -3),
    ("T", r"大后[天日]", 3),
    ("T", r"前[天日]", -2),
    ("T", r"后[天日](?!性)", 2),
    ("T", r"今[天日晚早]|今儿", 0),
    ("T", r"明[天日晚早]|明儿", 1),
    ("T", r"昨[天日晚]|昨儿", -1),
    ("R", r"大前年", -3),
    ("R", r"前年", -2),
    ("R", r"去年", -1),
    ("R", r"今年|本年度?", 0),
    ("R", r"明年|来年", 1),
    ("R", r"后年", 2),
    ("Q", r"上半年|前半年", 1),
    ("Q", r"下半年|后半年", 2),
    ("Pm", r"上半月|上半个月", 4),
    ("Pm", r"下半月|下半个月", 5),
    ("Pw", r"上半周", 4),
    ("Pw", r"下半周", 5),
    ("h", r"半年", None),
    ("+", r"半(?=(?:以|之)?[前后])", None),
    ("P", r"(?<=[年月])初", 1),
    ("P", r"(?<=[年月])中(?=[，。、,.的就才旬]|$)", 2),
    ("P", r"(?<=[年月])[底末]", 3),
    (">", r"(?:或|及|和)(?:者)?(?:之|以)?后", None),
    ("<", r"(?:或|及|和)(?:者)?(?:之|以)?前", None),
    ("l", r"最后", None),
    ("p", r"过去|最近|近", -1),
    ("u", r"未来|接下来|今后|往后", 1),
    ("L", r"上上一?", -2),
    ("L", r"下下一?", 2),
    ("L", r"上一?(?=个|周|星期|礼拜|月|季|年|世纪|\s*\d|\s*[一二三四五六七八九十两几])", -1),
    ("L", r"下一?(?=个|周|星期|礼拜|月|季|年|世纪|\s*\d|\s*[一二三四五六七八九十两几])", 1),
    ("L", r"(?:本|这)一?(?=个|周|星期|礼拜|月|季|世纪)", 0),
    ("e", r"(?:之|以)?前", None),
    ("a", r"(?:之|以)?后", None),
    ('"', r"以来|开始|至今|起", None),
    ("k", r"截止到?|截至|直到|直至|为止", None),
    ("F", r"自从|自|从|打从", None),
    ("G", r"到|至|[-~—–]+", None),
    ("b", r"之间|间", None),
    ("&", r"和|与|跟", None),
    ("f", r"的", None),
    ("i", r"在|于", None),
    ("=", r"=", None),
    (",", r"[,，、]", None),
    ("s", r"世纪", None),
    ("g", r"年代", None),
    ("S", r"春[天季]", 1),
    ("S", r"夏[天季]", 2),
    ("S", r"秋[天季]", 3),
    ("S", r"冬[天季]", 4),
    ("j", r"季度|季", None),
    ("y", r"年", None),
    ("cm", r"个月", None),
    ("m", r"月份?", None),
    ("r", r"日|号", None),
    ("t", r"天", None),
    ("w", r"个(?:星期|礼拜)(?![一二三四五六日天])|星期|礼拜|周", None),
    ("c", r"个", None),
    ("o", r"第", None),
    ("few", r"几(?=天|周|个月|年|个星期|日)", 3),
    ("zh", rf"[{_NUMERALS}]+", None),
    ("x", r"[^\s]", None),
)

FUTURE = re.compile(
    r"将|要|打算|计划|准备|即将|安排|预订|提醒|明天|后天|下周|下个?月|明年|会(?![议员面见场长计])"
)
PAST = re.compile(r"了|已经?|曾|过(?!去)|之前|去年|昨")


def numeral(text: str) -> int | None:
    """ "二零一六" digit by digit, "两千零四" by units; None when it is no number."""
    if all(c in _DIGITS for c in text):
        return int("".join(str(_DIGITS[c]) for c in text)) if len(text) <= 4 else None
    total = part = 0
    for c in text:
        if c in _DIGITS:
            part = _DIGITS[c]
        elif c == "廿":
            total += 20
        else:
            total += (part or 1) * _UNITS[c]
            part = 0
    return total + part


def weekday(character: str) -> int:
    return _WEEKDAY[character]
