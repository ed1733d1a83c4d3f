"""Spanish words of time, folded (no accents), with the code letter that each has in the rules.

The letters are those of `english_words`; besides, f is de and del, G is a and al, u is a plural unit,
~ the rest of, " earlier in, ! a Roman numeral.
"""

from pipeline.timeline.datelang.latin import Lexicon, Meaning
from pipeline.timeline.precision import Precision as P

MONTHS = (
    [
        "enero",
        "febrero",
        "marzo",
        "abril",
        "mayo",
        "junio",
        "julio",
        "agosto",
        "septiembre",
        "octubre",
        "noviembre",
        "diciembre",
    ],
    ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"],
)
WEEKDAYS = ["lunes", "martes", "miercoles", "jueves", "viernes", "sabado", "domingo"]

WORDS: dict[str, Meaning] = {}
WORDS |= {name: ("M", i) for names in MONTHS for i, name in enumerate(names, 1)}
WORDS |= {
    "mar": ("m", 3),
    "may": ("m", 5),
    "sep": ("M", 9),
    "set": ("m", 9),
    "setiembre": ("M", 9),
    "abr": ("m", 4),
}
WORDS |= {name: ("W", i) for i, name in enumerate(WEEKDAYS)} | {"sabados": ("V", 5), "domingos": ("V", 6)}
WORDS |= {name: ("v", i) for i, name in enumerate(["lun", "mart", "mier", "juev", "vier", "sab", "dom"])}
WORDS |= {"mie": ("v", 2), "mierc": ("v", 2), "jue": ("v", 3), "vie": ("v", 4)}

for _names, _unit in (
    ("dia dias", P.day),
    ("semana semanas", P.week),
    ("mes meses", P.month),
    ("trimestre trimestres", P.quarter),
    ("semestre semestres", P.half_year),
    ("ano anos", P.year),
    ("decada decadas", P.decade),
    ("decenio decenios", P.decade),
    ("siglo siglos", P.century),
    ("finde findes", P.weekend),
    ("quincena quincenas", (P.week, 2)),
):
    _one, _many = _names.split()
    WORDS |= {_one: ("U", _unit), _many: ("u", _unit)}
WORDS |= dict.fromkeys(
    ["hora", "horas", "minuto", "minutos", "segundos", "rato", "ratos", "momento", "momentos"], ("H", None)
)
WORDS |= {"hoy": ("T", 0), "manana": ("T", 1), "ayer": ("T", -1), "anteayer": ("T", -2), "antier": ("T", -2)}
WORDS |= {"antes": ("w", None), "anoche": ("T", -1), "ahora": ("_", 0)}
WORDS |= {"primavera": ("R", 1), "verano": ("R", 2), "otono": ("R", 3), "invierno": ("R", 4)}
WORDS |= {f"t{i}": ("Q", (P.quarter, i)) for i in range(1, 5)} | {
    f"q{i}": ("Q", (P.quarter, i)) for i in range(1, 5)
}

_ONES = "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciseis"
_ONES += " diecisiete dieciocho diecinueve veinte veintiuno veintidos veintitres veinticuatro veinticinco veintiseis"
_ONES += " veintisiete veintiocho veintinueve"
_TENS = ["treinta", "cuarenta", "cincuenta", "sesenta", "setenta", "ochenta", "noventa"]
_HUNDREDS = [
    "doscientos",
    "trescientos",
    "cuatrocientos",
    "quinientos",
    "seiscientos",
    "setecientos",
    "ochocientos",
    "novecientos",
]
WORDS |= {name: ("c", i) for i, name in enumerate(_ONES.split())}
WORDS |= {name: ("c", 10 * i) for i, name in enumerate(_TENS, 3)}
WORDS |= {name: ("c", 100 * i) for i, name in enumerate(_HUNDREDS, 2)}
WORDS |= {
    "cien": ("h", 100),
    "ciento": ("h", 100),
    "cientos": ("h", 100),
    "mil": ("h", 1000),
    "veintiun": ("c", 21),
}
WORDS |= {
    "un": ("1", 1),
    "una": ("1", 1),
    "par": ("N", 2),
    "pocos": ("N", 3),
    "varios": ("N", 3),
    "varias": ("N", 3),
}
WORDS |= {"unos": ("N", 3), "unas": ("N", 3), "algunos": ("N", 3), "algunas": ("N", 3), "pocas": ("N", 3)}
_ORDINALS = [
    "primer",
    "segund",
    "tercer",
    "cuart",
    "quint",
    "sext",
    "septim",
    "octav",
    "noven",
    "decim",
    "undecim",
    "duodecim",
]
WORDS |= {stem + end: ("o", i) for i, stem in enumerate(_ORDINALS, 1) for end in ("o", "a")}
WORDS |= {"primeros": ("o", 1), "primeras": ("o", 1), "calendario": ("Z", None), "natural": ("Z", None)}
WORDS |= {
    "primer": ("o", 1),
    "tercer": ("o", 3),
    "segundo": ("S", 2),
    "vigesimo": ("o", 20),
    "trigesimo": ("o", 30),
}
_ROMAN = "i ii iii iv v vi vii viii ix x xi xii xiii xiv xv xvi xvii xviii xix xx xxi"
WORDS |= {name: ("!", i) for i, name in enumerate(_ROMAN.split(), 1)}

for _code, _value, _names in (
    ("L", -1, "pasado pasada pasados pasadas ultimo ultima ultimos ultimas anterior anteriores"),
    ("X", 1, "proximo proxima proximos proximas siguiente siguientes venidero venidera"),
    ("I", 0, "este esta estos estas actual actuales"),
):
    WORDS |= dict.fromkeys(_names.split(), (_code, _value))
WORDS |= {
    "hace": ("g", None),
    "atras": ("g", None),
    "despues": ("l", None),
    "en": ("i", None),
    "durante": ("p", None),
}
WORDS |= {
    "de": ("f", "de"),
    "del": ("f", "del"),
    "el": ("t", "el"),
    "la": ("t", None),
    "los": ("t", "s"),
    "las": ("t", "s"),
}
WORDS |= {
    "lo": ("t", None),
    "a": ("G", "to"),
    "al": ("G", "to"),
    "hasta": ("k", None),
    "y": ("&", "y"),
    "o": ("&", "o"),
}
WORDS |= {
    "e": ("&", "y"),
    "entre": ("b", None),
    "desde": ("s", None),
    "tras": ("a", None),
    "para": ("p", None),
}
WORDS |= {
    "cada": ("E", None),
    "todo": ("E", None),
    "todos": ("E", None),
    "todas": ("E", None),
    "habiles": ("%", None),
}
WORDS |= {"laborables": ("%", None), "por": ("p", None)}
_SAFE = (
    "yo tu ella nosotros ellos que se me te le nos les su mis cuando pero si no es son era fue fui estaba estuve"
    " estuvo he ha hemos han habia con sin como donde mientras porque ya tambien solo mismo"
)
WORDS |= {name: ("z", None) for name in _SAFE.split() if name not in WORDS}

_PARTS = (
    (1, "principios principio inicios inicio comienzos comienzo primeros"),
    (2, "mediados medianos mitad"),
    (3, "finales final fines fin ultimos"),
)
PHRASES: dict[str, Meaning] = {
    f"{lead}{name} {of}": ("P", which)
    for which, names in _PARTS
    for name in names.split()
    for lead in ("", "a ", "al ", "el ")
    for of in ("de", "del")
}
PHRASES |= {
    f"{which}{half} {of}": ("P", code)
    for which, code in (("primera ", 4), ("1a ", 4), ("segunda ", 5), ("2a ", 5))
    for half in ("mitad", "quincena")
    for of in ("de", "del")
}
PHRASES |= {
    "el fin de semana": ("U", P.weekend),
    "al fin de semana": ("U", P.weekend),
    "fin de semana": ("U", P.weekend),
    "fines de semana": ("U", P.weekend),
    "pasado manana": ("T", 2),
    "medio ano": ("d", [(6, P.month)]),
    "un ano y medio": ("d", [(18, P.month)]),
    "un mes y medio": ("d", [(1, P.month), (15, P.day)]),
    "anos y medio": ("+", None),
    "antes de ayer": ("T", -2),
    "el dia antes de ayer": ("T", -2),
    "el dia despues de manana": ("T", 2),
    "esta noche": ("T", 0),
    "esta tarde": ("T", 0),
    "esta manana": ("T", 0),
    "de la manana": ("w", None),
    "por la manana": ("w", None),
    "en la manana": ("w", None),
    "por las mananas": ("*", None),
    "por las tardes": ("*", None),
    "por las noches": ("*", None),
    "ahora mismo": ("w", None),
    "el otro dia": ("w", None),
    "dia tras dia": ("w", None),
    "dia a dia": ("w", None),
    "del dia": ("w", None),
    "hoy en dia": ("w", None),
    "que viene": ("X", 1),
    "que entra": ("X", 1),
    "que paso": ("w", None),
    "en curso": ("I", 0),
    "un par de": ("N", 2),
    "dentro de": ("j", None),
    "antes de": ("e", None),
    "antes del": ("e", None),
    "anterior de": ("e", None),
    "anterior a": ("e", None),
    "anteriores a": ("e", None),
    "previo a": ("e", None),
    "antes que": ("e", None),
    "despues de": ("a", None),
    "despues del": ("a", None),
    "posterior de": ("a", None),
    "posterior a": ("a", None),
    "posteriores a": ("a", None),
    "a partir de": ("s", None),
    "a partir del": ("s", None),
    "a contar de": ("s", None),
    "empezando el": ("s", None),
    "comenzando el": ("s", None),
    "o mas tarde": (">", None),
    "y mas tarde": (">", None),
    "en adelante": (">", None),
    "o posterior": (">", None),
    "no mas tarde que": ("e", None),
    "semana que inicia": ("@", None),
    "semana que comienza": ("@", None),
    "semana que empieza": ("@", None),
    "mas tarde": ("~", None),
    "el resto de": ("~", None),
    "el resto del": ("~", None),
    "resto de": ("~", None),
    "resto del": ("~", None),
    "lo que queda de": ("~", None),
    "lo que queda del": ("~", None),
    "mas temprano": ('"', None),
}

LEXICON = Lexicon(
    words=WORDS,
    phrases=PHRASES,
    suffixes={
        "ro": "O",
        "do": "O",
        "er": "O",
        "ra": "O",
        "da": "O",
        "to": "O",
        "ta": "O",
        "o": "O",
        "a": "O",
    },
    day_first=True,
    names=frozenset({"abril", "julio", "domingo"}),
)
