"""The relations that rules know: one name for all languages, so that slots agree whatever language states them."""

from __future__ import annotations

from dataclasses import dataclass

from pipeline.model.extraction import Cardinality


@dataclass(frozen=True)
class Relation:
    """A relation with the sentences that state it.

    `subject` and `object` are the types that its ends have, where the relation itself tells. The sentences are
    formats with {s} and {o}; a relation without {o} is a fact about one entity.
    """

    name: str
    cardinality: Cardinality
    subject: str | None
    object: str | None
    en: str
    es: str
    zh: str

    def sentence(self, language: str, subject: str, target: str) -> str:
        """The self-contained sentence in a language ("en", "es", "zh")."""
        form = {"es": self.es, "zh": self.zh}.get(language, self.en)
        if language == "es" and target.startswith("el "):
            # "a el" and "de el" are written as one word.
            form = form.replace(" a {o}", " al {o}").replace(" de {o}", " del {o}")
            target = target[3:] if " al {o}" in form or " del {o}" in form else target
        return form.replace("{s}", "\0").replace("{o}", target).replace("\0", subject)


def _table() -> dict[str, Relation]:
    one, many = Cardinality.one, Cardinality.many
    person, organization, place, product = "Person", "Organization", "Place", "Product"
    rows = [
        ("WORKS_AT", one, person, organization, "{s} works at {o}", "{s} trabaja en {o}", "{s}在{o}工作"),
        ("LIVES_IN", one, person, place, "{s} lives in {o}", "{s} vive en {o}", "{s}住在{o}"),
        ("HAS_ROLE", one, person, None, "{s} is {o}", "{s} es {o}", "{s}是{o}"),
        ("HAS_PLAN", one, None, product, "{s} is on {o}", "{s} tiene {o}", "{s}使用{o}"),
        (
            "MARRIED_TO",
            one,
            person,
            person,
            "{s} is married to {o}",
            "{s} y {o} están casados",
            "{s}和{o}是夫妻",
        ),
        ("IS_FROM", one, person, place, "{s} is from {o}", "{s} es de {o}", "{s}来自{o}"),
        ("BORN_IN", one, person, place, "{s} was born in {o}", "{s} nació en {o}", "{s}出生于{o}"),
        (
            "BASED_IN",
            one,
            organization,
            place,
            "{s} is based in {o}",
            "{s} tiene su sede en {o}",
            "{s}总部位于{o}",
        ),
        ("LOCATED_IN", many, None, place, "{s} is located in {o}", "{s} está en {o}", "{s}位于{o}"),
        ("LIKES", many, person, None, "{s} likes {o}", "A {s} le gusta {o}", "{s}喜欢{o}"),
        ("DISLIKES", many, person, None, "{s} dislikes {o}", "A {s} no le gusta {o}", "{s}不喜欢{o}"),
        ("PREFERS", many, person, None, "{s} prefers {o}", "{s} prefiere {o}", "{s}更喜欢{o}"),
        ("OWNS", many, None, None, "{s} owns {o}", "{s} tiene {o}", "{s}有{o}"),
        ("BOUGHT", many, None, None, "{s} bought {o}", "{s} compró {o}", "{s}买了{o}"),
        ("ORDERED", many, None, None, "{s} ordered {o}", "{s} pidió {o}", "{s}订购了{o}"),
        ("USES", many, None, None, "{s} uses {o}", "{s} usa {o}", "{s}使用{o}"),
        ("PLAYS", many, person, None, "{s} plays {o}", "{s} juega a {o}", "{s}玩{o}"),
        ("PRACTISES", many, person, None, "{s} practises {o}", "{s} practica {o}", "{s}练习{o}"),
        ("SPEAKS", many, person, None, "{s} speaks {o}", "{s} habla {o}", "{s}会说{o}"),
        ("STUDIES", many, person, None, "{s} studies {o}", "{s} estudia {o}", "{s}学习{o}"),
        (
            "STUDIES_AT",
            many,
            person,
            organization,
            "{s} studies at {o}",
            "{s} estudia en {o}",
            "{s}在{o}读书",
        ),
        (
            "ALLERGIC_TO",
            many,
            person,
            None,
            "{s} is allergic to {o}",
            "{s} tiene alergia a {o}",
            "{s}对{o}过敏",
        ),
        ("LEADS", many, person, None, "{s} leads {o}", "{s} dirige {o}", "{s}负责{o}"),
        ("FOUNDED", many, None, organization, "{s} founded {o}", "{s} fundó {o}", "{s}创立了{o}"),
        ("VISITED", many, person, None, "{s} visited {o}", "{s} visitó {o}", "{s}去了{o}"),
        (
            "HAS_PROBLEM",
            many,
            None,
            None,
            "{s} has a problem: {o}",
            "{s} tiene un problema: {o}",
            "{s}出现问题：{o}",
        ),
        (
            "PARENT_OF",
            many,
            person,
            person,
            "{s} is a parent of {o}",
            "{s} es madre o padre de {o}",
            "{s}是{o}的父母",
        ),
        (
            "SIBLING_OF",
            many,
            person,
            person,
            "{s} and {o} are siblings",
            "{s} y {o} son hermanos",
            "{s}和{o}是兄弟姐妹",
        ),
        (
            "FRIEND_OF",
            many,
            person,
            person,
            "{s} is a friend of {o}",
            "{s} tiene amistad con {o}",
            "{s}和{o}是朋友",
        ),
        (
            "COLLEAGUE_OF",
            many,
            person,
            person,
            "{s} is a colleague of {o}",
            "{s} trabaja con {o}",
            "{s}和{o}是同事",
        ),
    ]
    return {row[0]: Relation(*row) for row in rows}


RELATIONS = _table()
