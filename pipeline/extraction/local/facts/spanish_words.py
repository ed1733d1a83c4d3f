"""The Spanish words that rules turn into facts: verbs with their forms and relation, kin, roles, devices."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pipeline.extraction.local.facts.claim import Aspect


@dataclass(frozen=True)
class Verb:
    """A verb with the preposition that its object needs. `named`: the object must be a name."""

    relation: str
    aspect: Aspect
    infinitive: str
    prep: str = ""
    named: bool = False


Forms = dict[str, tuple[int | None, str]]
"""Verb form → (person, None when first and third are alike; "present", "past", "gerund", …)."""


def _conjugate(infinitive: str, stem: str = "") -> Forms:
    root, ending = infinitive[:-2], infinitive[-2:]
    stem = stem or root
    ar = ending == "ar"
    a = "a" if ar else "e"
    we = {"ar": "amos", "er": "emos", "ir": "imos"}[ending]
    forms: Forms = {
        f"{stem}o": (1, "present"),
        f"{root}{we}": (1, "present"),
        f"{stem}{a}": (3, "present"),
        f"{stem}{a}n": (3, "present"),
        f"{root}{'é' if ar else 'í'}": (1, "past"),
        f"{root}{'ó' if ar else 'ió'}": (3, "past"),
        f"{root}{'aron' if ar else 'ieron'}": (3, "past"),
        f"{root}{'aba' if ar else 'ía'}": (None, "past"),
        f"{root}{'ábamos' if ar else 'íamos'}": (1, "past"),
        f"{root}{'aban' if ar else 'ían'}": (3, "past"),
        f"{root}{'ando' if ar else 'iendo'}": (None, "gerund"),
        f"{root}{'ado' if ar else 'ido'}": (None, "participle"),
        f"{infinitive}": (None, "infinitive"),
        f"{infinitive}é": (1, "future"),
        f"{infinitive}á": (3, "future"),
    }
    return forms


FORMS: dict[str, Forms] = {
    **{
        v: _conjugate(v)
        for v in [
            "trabajar",
            "vivir",
            "odiar",
            "comprar",
            "usar",
            "utilizar",
            "practicar",
            "hablar",
            "estudiar",
            "visitar",
            "dejar",
            "vender",
            "cancelar",
            "casar",
            "mudar",
            "fundar",
            "entrar",
            "renunciar",
            "viajar",
            "ordenar",
        ]
    },
    "detestar": _conjugate("detestar"),
    "preferir": _conjugate("preferir", "prefier") | {"prefirió": (3, "past")},
    "empezar": _conjugate("empezar", "empiez") | {"empecé": (1, "past")},
    "jugar": _conjugate("jugar", "jueg") | {"jugué": (1, "past")},
    "tocar": _conjugate("tocar") | {"toqué": (1, "past")},
    "dirigir": _conjugate("dirigir") | {"dirijo": (1, "present")},
    "pedir": {
        "pedí": (1, "past"),
        "pidió": (3, "past"),
        "pedido": (None, "participle"),
        "pedimos": (1, "past"),
    },
    "unirse": {"uní": (1, "past"), "unió": (3, "past"), "unido": (None, "participle")},
    "ir": {"fui": (1, "past"), "fue": (3, "past"), "fuimos": (1, "past"), "ido": (None, "participle")},
    "nacer": {"nací": (1, "past"), "nació": (3, "past"), "nacido": (None, "participle")},
    "suscribir": {"suscribí": (1, "past"), "suscribió": (3, "past"), "suscrito": (None, "participle")},
    "adorar": _conjugate("adorar"),
    "tener": {
        "tengo": (1, "present"),
        "tiene": (3, "present"),
        "tenemos": (1, "present"),
        "tenía": (None, "past"),
    },
}
# "Practicar" and "odiar" in the past tense, first person, change their spelling or accent.
FORMS["practicar"]["practiqué"] = (1, "past")

_S, _B, _E, _V = Aspect.state, Aspect.start, Aspect.end, Aspect.event
VERBS = [
    Verb("WORKS_AT", _S, "trabajar", "(?:en|para)", True),
    Verb("WORKS_AT", _B, "empezar", "(?:a trabajar )?en", True),
    Verb("WORKS_AT", _B, "unirse", "a", True),
    Verb("WORKS_AT", _B, "entrar", "(?:a trabajar )?en", True),
    Verb("WORKS_AT", _E, "dejar", "", True),
    Verb("WORKS_AT", _E, "renunciar", "a", True),
    Verb("LIVES_IN", _S, "vivir", "en", True),
    Verb("LIVES_IN", _B, "mudar", "(?:de \\S+ )?a", True),
    Verb("DISLIKES", _S, "odiar"),
    Verb("DISLIKES", _S, "detestar"),
    Verb("LIKES", _S, "adorar"),
    Verb("PREFERS", _S, "preferir"),
    Verb("BOUGHT", _V, "comprar"),
    Verb("ORDERED", _V, "pedir"),
    Verb("ORDERED", _V, "ordenar"),
    Verb("OWNS", _E, "vender"),
    Verb("USES", _S, "usar"),
    Verb("USES", _S, "utilizar"),
    Verb("PLAYS", _S, "jugar", "(?:al?)"),
    Verb("PLAYS", _S, "tocar"),
    Verb("PRACTISES", _S, "practicar"),
    Verb("SPEAKS", _S, "hablar", "(?!(?:con|de|por|en|sobre)\\b)"),
    Verb("STUDIES_AT", _S, "estudiar", "en", True),
    Verb("STUDIES", _S, "estudiar", "(?!(?:en|con|para|mucho)\\b)"),
    Verb("MARRIED_TO", _B, "casar", "con", True),
    Verb("LEADS", _S, "dirigir", "", True),
    Verb("FOUNDED", _V, "fundar", "", True),
    Verb("VISITED", _V, "visitar", "(?:a )?", True),
    Verb("VISITED", _V, "viajar", "a", True),
    Verb("VISITED", _V, "ir", "a", True),
    Verb("BORN_IN", _V, "nacer", "en", True),
    Verb("HAS_PLAN", _B, "suscribir", "al?"),
    Verb("HAS_PLAN", _E, "cancelar"),
    Verb("HAS_PLAN", _S, "tener", "(?=(?:(?:el|la|un|una) )?(?:plan|suscripción)\\b)"),
]
QUESTION = re.compile(r"\?|¿|^[\s\"'(]*(?:qué|quién|quiénes|dónde|cuándo|cómo|por qué|cuál|cuánto)\b", re.I)
HYPOTHETICAL = re.compile(
    r"\b(?:si|ojalá|quizás?|tal vez|acaso|posiblemente|probablemente|imagina|supongamos|supón|suponga|supuestamente|"
    r"me gustaría|le gustaría|quisiera|podría|debería|trabajaría|viviría|sería|haría|tendría|quiero|quiere|querría|"
    r"espero|espera|planeo|planea|pienso|finge|casi|es falso|creo que|me parece|dicen que|no es cierto|dudo|sueño con|a punto de|como si)\b",
    re.I,
)
COMMAND = re.compile(
    r"(?:^|[.!:;,>\n]\s*|\b(?:por favor|ahora|debes|y|sistema|tú)\s*:?\s*)(?:recuerda|registra|anota|guarda|marca|escribe|di|responde|"
    r"contesta|olvida|ignora|borra|elimina|añade|agrega|actualiza|cambia|reemplaza|repite|afirma|ejecuta|crea|haz|"
    r"considera|asume|finge|imagina|supón|supongamos|traduce|inserta|establece|pon)\b",
    re.I,
)
CLAUSE = re.compile(
    r"[;:—–]+|,?\s+(?:pero|porque|aunque|mientras|cuando|y luego|así que)\s+|,\s+(?=(?:ya no|ahora|también|yo|él|ella|mi|me)\b)|"
    r",?\s+y\s+(?=(?:ya no|ahora|también|yo|él|ella|mi|me|no|se|he|ha|viv\w+|trabaj\w+|estudi\w+|us[oa]|compr\w+|prefier\w+)\b)"
)
NOT_OBJECTS = re.compile(
    r"^(?:eso|esto|aquello|ello|mucho|más|menos|algo|nada|todo|que|qué|lo|la|le|te|me|cuando|como|a|de|en|con|por|para|"
    r"muy|bien|mal|aquí|allí|ahí|él|ella|tú|usted|no|sí|ya)\b",
    re.I,
)
PHRASE_END = re.compile(
    r"\s(?:el|los|las|un|una|en|con|por|para|desde|hasta|porque|cuando|mientras|donde|que|como|a|al|sobre|ahora|hoy|ayer|pero|si|es|son|"
    r"está|era|muy|también|cada|todos|todas|mucho|antes|después|más|tanto|hace|me|se|lo|según|sin|durante|ya|gracias)\b.*$",
    re.I,
)
KIN = (
    "esposa|esposo|marido|mujer|hermana|hermano|madre|padre|mamá|papá|hija|hijo|colega|compañera|compañero|amiga|"
    "amigo|perro|perra|gato|gata|mascota"
)
ROLE_NOUN = (
    r"enfermer[oa]|médic[oa]|doctora?|ingenier[oa](?: \w+)?|profesora?|maestr[oa]|abogad[oa]|programadora?|"
    r"desarrolladora?|diseñadora?|periodista|cociner[oa]|chef|estudiante|gerente|directora?|jef[ea]|contable|contador|"
    r"contadora|arquitect[oa]|artista|escritora?|camarer[oa]|conductora?|electricista|mecánic[oa]|piloto|"
    r"fundadora?|coordinadora?|auditora?|entomólog[oa]|investigadora?|científic[oa]|psicólog[oa]|dentista|veterinari[oa]|"
    r"fotógraf[oa]|músic[oa]|cantante|actor|actriz|traductora?|bibliotecari[oa]|presidenta?|presidente|secretari[oa]|"
    r"entrenadora?|farmacéutic[oa]|panader[oa]|agricultora?|fontaner[oa]|pintora?|analista|consultora?"
)
DEVICES = (
    "impresora|portátil|ordenador|computadora|teléfono|móvil|celular|tableta|pantalla|monitor|router|teclado|ratón|"
    "coche|carro|auto|moto|bicicleta|lavadora|lavavajillas|nevera|aplicación|app|cuenta|internet|wifi|cámara|"
    "auriculares|televisor|batería|escáner|servidor|horno|caldera|reloj|altavoz|cargador"
)
TROUBLE = (
    "imágenes fantasma|imagen fantasma|error|errores|rayas|manchas|páginas en blanco|ruido|atasco|fuga|humo"
)
HABITS: dict[str, tuple[str, str, int]] = {
    form: (relation, third, person)
    for relation, first, third in (
        ("JOGS", "troto", "trota"),
        ("RUNS", "corro", "corre"),
        ("GOES_RUNNING", "salgo a correr", "sale a correr"),
        ("SWIMS", "nado", "nada"),
        ("MEDITATES", "medito", "medita"),
        ("EXERCISES", "hago ejercicio", "hace ejercicio"),
        ("CYCLES", "monto en bicicleta", "monta en bicicleta"),
        ("DANCES", "bailo", "baila"),
        ("WALKS", "camino", "camina"),
        ("TRAINS", "entreno", "entrena"),
        ("COOKS", "cocino", "cocina"),
        ("GOES_TO_THE_GYM", "voy al gimnasio", "va al gimnasio"),
    )
    for form, person in ((first, 1), (third, 3))
}
"""Verb form → (relation, third person, grammatical person)."""
