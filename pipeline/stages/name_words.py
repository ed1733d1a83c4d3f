"""The closed sets of words and characters by which names are told apart, in English, Spanish and Chinese."""

from __future__ import annotations

_DESIGNATED = (
    "rev revision phase part gate block building class type model version series plan team group hall wing terminal "
    "platform room floor grade level stage tier zone region section annex appendix schedule lot line route unit site "
    "volume vol vitamin hepatitis channel "
    "revisión fase parte puerta bloque edificio clase tipo modelo versión serie equipo grupo sala terminal planta "
    "andén zona sección anexo lote línea ruta unidad tomo vitamina"
)
DESIGNATED = frozenset(_DESIGNATED.split())
"""Words after which a lone letter or numeral is a designation, wherever it stands."""

PLAIN_LETTERS = frozenset("aeioyu")
"""Letters that are words of their own inside a name: articles and conjunctions."""

_NUMBERS = {
    "1": "one first uno una primero primera primer",
    "2": "two second dos segundo segunda",
    "3": "three third tres tercero tercera tercer",
    "4": "four fourth cuatro cuarto cuarta",
    "5": "five fifth cinco quinto quinta",
    "6": "six sixth seis sexto sexta",
    "7": "seven seventh siete séptimo séptima",
    "8": "eight eighth ocho octavo octava",
    "9": "nine ninth nueve noveno novena",
    "10": "ten tenth diez décimo décima",
    "11": "eleven eleventh once",
    "12": "twelve twelfth doce",
}
NUMBER_WORDS = {word: number for number, words in _NUMBERS.items() for word in words.split()}

_CALENDAR = {
    "january": "enero",
    "february": "febrero",
    "march": "marzo",
    "april": "abril",
    "may": "mayo",
    "june": "junio",
    "july": "julio",
    "august": "agosto",
    "september": "septiembre",
    "october": "octubre",
    "november": "noviembre",
    "december": "diciembre",
    "monday": "lunes",
    "tuesday": "martes",
    "wednesday": "miércoles",
    "thursday": "jueves",
    "friday": "viernes",
    "saturday": "sábado",
    "sunday": "domingo",
}
MONTHS_AND_DAYS = {**{en: en for en in _CALENDAR}, **{es: en for en, es in _CALENDAR.items()}}

GENERATIONS = {
    **dict.fromkeys(("jr", "junior", "hijo"), "younger"),
    **dict.fromkeys(("sr", "senior", "padre"), "older"),
}

_COMPASS = {
    "north": "northern norte",
    "south": "southern sur",
    "east": "eastern este",
    "west": "western oeste",
    "northeast": "noreste",
    "northwest": "noroeste",
    "southeast": "sureste",
    "southwest": "suroeste",
}
COMPASS = {word: kind for kind, words in _COMPASS.items() for word in (kind, *words.split())}

HAN_DIGITS = {
    **{c: i for i, c in enumerate("〇一二三四五六七八九")},
    **{c: i for i, c in enumerate("零壹贰叁肆伍陆柒捌玖")},
    "貳": 2,
    "叄": 3,
    "陸": 6,
    "两": 2,
    "兩": 2,
}
HAN_UNITS = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
HAN_OPPOSITES = tuple(
    frozenset(family)
    for family in (
        "东南西北東",
        "上下中",
        "左右",
        "内外內",
        "大小",
        "男女",
        "前后後",
        "新旧舊老",
        "甲乙丙丁戊",
        "正副",
    )
)
HAN_VARIANTS = str.maketrans("東內後舊", "东内后旧")
"""Traditional characters of those sets: no difference."""
