"""Number words of English and Spanish: runs of cardinals become one number or one year."""

from pipeline.timeline.datelang.cascade import Item

# "nineteen hundred and ninety three" and a day before it; a longer run is a list, not a number
_LONGEST = 9

CARDINAL, MULTIPLIER, AND = "c", "h", "&"


def join_numbers(items: list[Item]) -> list[Item]:
    """Replace runs of number words by `N` (up to 999) or `Y` (a year) tokens.

    "twenty one two thousand and eighteen" is a day and a year: a run that is no number as a whole is cut in two.
    """
    out: list[Item] = []
    at = 0
    while at < len(items):
        if items[at].code not in (CARDINAL, MULTIPLIER):
            out.append(items[at])
            at += 1
            continue
        run, stop = _run(items, at)
        out.extend(_numbers(run))
        at = stop
    return out


def _run(items: list[Item], at: int) -> tuple[list[Item], int]:
    run = [items[at]]
    stop = at + 1
    while stop < len(items) and len(run) < _LONGEST:
        follower = items[stop]
        if follower.code in (CARDINAL, MULTIPLIER):
            run.append(follower)
            stop += 1
            continue
        ahead = items[stop + 1] if stop + 1 < len(items) else None
        if ahead is None or ahead.code not in (CARDINAL, MULTIPLIER) or not _linked(run, follower, ahead):
            break
        run.append(ahead)
        stop += 2
    return run, stop


def _linked(run: list[Item], link: Item, ahead: Item) -> bool:
    tens = run[-1].value in range(20, 100, 10) and ahead.value in range(1, 10)
    if link.code == "-":
        return tens and link.begin == run[-1].stop
    # "two thousand and eighteen"; "noventa y nueve"
    return link.code == AND and (
        tens or (link.value == "and" and run[-1].code == MULTIPLIER and ahead.code == CARDINAL)
    )


def _numbers(run: list[Item]) -> list[Item]:
    whole = _value(run)
    if whole is not None:
        return [_item(run, whole)]
    for cut in range(len(run) - 1, 0, -1):
        left, right = _value(run[:cut]), _value(run[cut:])
        if left is not None and right is not None and left <= 31 and right >= 1000:
            return [_item(run[:cut], left), _item(run[cut:], right)]
    return [Item("w", None, each.begin, each.stop) for each in run]


def _item(run: list[Item], value: int) -> Item:
    return Item("Y" if 1000 <= value <= 2199 else "N", value, run[0].begin, run[-1].stop)


def _value(run: list[Item]) -> int | None:
    values = [each.value for each in run]
    value = _sum(values)
    return value if value is not None else _pairs(values)


def _sum(values: list[int]) -> int | None:
    total = part = 0
    for value in values:
        if value == 1000:
            if part >= 1000 or total:
                return None
            total, part = (part or 1) * 1000, 0
        elif value == 100:
            if part >= 100:
                return None
            part = (part or 1) * 100
        else:
            room = part % 1000 == 0 if value >= 100 else part % 100 == 0
            if value < 10:
                room = part % 10 == 0 and part % 100 != 10 and value > 0
            if not room or (value == 0 and len(values) > 1):
                return None
            part += value
    return total + part


def _pairs(values: list[int]) -> int | None:
    """ "nineteen seventy eight", "nineteen zero one", "twenty twenty"."""
    for cut in range(1, len(values)):
        high, tail = _sum(values[:cut]), values[cut:]
        low = _sum(tail[1:]) if tail[0] == 0 and len(tail) > 1 else _sum(tail)
        spoken = tail[0] == 0 or (low is not None and low >= 10)
        if (
            high is not None
            and low is not None
            and 10 <= high <= 21
            and low < 100
            and spoken
            and len(tail) <= 2
        ):
            return high * 100 + low
    return None
