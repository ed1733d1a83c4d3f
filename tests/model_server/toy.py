"""A model that understands a small grammar and nothing else: the default script.

It reads what stands in the fence of the question, as a model that follows its instructions would. "X works at Y",
"X lives in Y", "X bought Y" and the like become facts; "I" is the speaker; a date at the end of a sentence is copied.
"""

from __future__ import annotations

import json
import re
from typing import Any

from tests.model_server.request import RecordedRequest

_NAME = r"(?:I\b(?![’'])|[A-ZÀ-Þ][\w'’&-]*(?:\.(?=\s[A-ZÀ-Þ]))?(?:\s+[A-ZÀ-Þ0-9][\w'’&-]*)*)"
_VERBS = {
    r"works? (?:at|for)|joined|started at": ("WORKS_AT", "holds", "one", "Person", "Organization"),
    r"(?:left|no longer works? at|quit)": ("WORKS_AT", "ended", "one", "Person", "Organization"),
    r"worked (?:at|for)": ("WORKS_AT", "held", "one", "Person", "Organization"),
    r"lives? in|moved to": ("LIVES_IN", "holds", "one", "Person", "Place"),
    r"lived in": ("LIVES_IN", "held", "one", "Person", "Place"),
    r"(?:is|am) married to|married": ("MARRIED_TO", "holds", "one", "Person", "Person"),
    r"bought": ("BOUGHT", "holds", "many", "Person", "Product"),
    r"owns?": ("OWNS", "holds", "many", None, "Product"),
    r"uses?": ("USES", "holds", "many", None, "Product"),
    r"likes?": ("LIKES", "holds", "many", "Person", None),
    r"manages?|leads?": ("LEADS", "holds", "many", "Person", None),
    r"founded": ("FOUNDED", "holds", "many", "Person", "Organization"),
    r"(?:is|are) based in": ("BASED_IN", "holds", "one", "Organization", "Place"),
    r"knows|met": ("KNOWS", "holds", "many", "Person", "Person"),
}
_PARTS = [
    (re.compile(rf"(?P<s>{_NAME})\s+(?:{verb})\s+(?:the |a |an )?(?P<o>{_NAME})(?P<rest>[^.!?;]*)"), *meaning)
    for verb, meaning in _VERBS.items()
]
_WHEN = re.compile(
    r"\b((?:since|until|on|in|from)\s+[\w ,]*\d{4}|today|yesterday|last (?:week|month|year)|\w+ (?:days|weeks|months|years) ago|(?:since|in|on|until) [A-Z]\w+)"
)


def answer(request: RecordedRequest) -> Any:
    """The answer to any question of factstream's: by purpose, an empty form for those that it does not know."""
    if request.purpose == "extract":
        return _extracted(request.block("episode"), request.block("about"))
    if request.purpose == "extract_several":
        return {"episodes": [part(request, number) for number in request.numbers("episode")]}
    if request.purpose == "reflexion":
        return {"entities": [], "facts": []}
    if request.purpose == "judge_entities":
        return _judged(request.block("questions"))
    return _empty(request.payload.get("response_format", {}).get("json_schema", {}).get("schema", {}))


def part(request: RecordedRequest, number: int) -> dict[str, Any]:
    """The part of an answer to a question about several episodes: the same grammar, in the episode's own fence."""
    found = _extracted(request.block(f"episode_{number}"), request.block(f"about_{number}"))
    return {"episode": number, **found}


def _extracted(text: str, about: str) -> dict[str, Any]:
    speakers = re.search(r"^speaker: (.*)$", about, re.M)
    speaker = speakers.group(1).split(", ")[0] if speakers else None
    try:
        record = json.loads(text)
    except ValueError:
        record = None
    if isinstance(record, dict):
        return _from_record(record)
    entities: dict[str, str | None] = {}
    facts = []
    for line in re.split(r"(?<=[.!?;])\s+|\n+", text):
        named = re.match(rf"({_NAME})(?: \(\w+\))?:\s*(.*)", line)
        says, words = (named.group(1), named.group(2)) if named else (speaker, line)
        for pattern, relation, status, cardinality, left, right in _PARTS:
            match = pattern.search(words)
            if match is None:
                continue
            subject, target = (says if end == "I" else end for end in (match["s"], match["o"]))
            if not subject or not target:
                continue
            for name, kind in ((subject, left), (target, right)):
                entities[name] = entities.get(name) or kind
            when = _WHEN.search(match["rest"])
            verb = words[match.end("s") : match.start("o")].strip()
            facts.append(
                {
                    "subject": subject,
                    "relation": relation,
                    "object": target,
                    "fact": f"{subject} {verb} {target}",
                    "when": when.group(1) if when else None,
                    "valid_at": None,
                    "invalid_at": None,
                    "status": status,
                    "cardinality": cardinality,
                }
            )
            break
    found: list[dict[str, Any]] = [
        {"name": n, "type": k, "summary": None, "attributes": []} for n, k in entities.items()
    ]
    return {"entities": found, "facts": facts}


def _from_record(record: dict[str, Any]) -> dict[str, Any]:
    main = next((k for k in ("name", "customer", "company", "user") if isinstance(record.get(k), str)), None)
    if main is None:
        return {"entities": [], "facts": []}
    values = {k: v for k, v in record.items() if k != main and isinstance(v, str) and v[:1].isupper()}
    facts = [
        {
            "subject": record[main],
            "relation": key.upper(),
            "object": value,
            "fact": f"{record[main]}: {key} is {value}",
        }
        for key, value in values.items()
    ]
    return {"entities": [{"name": n} for n in (record[main], *values.values())], "facts": facts}


def _judged(questions: str) -> dict[str, Any]:
    """The same when the names have the same letters, whatever stands between them."""
    verdicts = []
    for block in re.split(r"\n\n(?=question )", questions):
        head, *candidates = block.split("\n")
        number, name = re.match(r"question (\d+): (.*)", head).groups()  # type: ignore[union-attr]
        same = [i for i, line in enumerate(candidates) if _letters(line.split(": ", 1)[1]) == _letters(name)]
        verdicts.append(
            {"question": int(number), "reason": "same letters", "candidate": same[0] if same else None}
        )
    return {"verdicts": verdicts}


def _letters(line: str) -> str:
    name = re.split(r" \(| also: | - | \| facts: ", line, maxsplit=1)[0]
    return re.sub(r"[\W_]|\b(?:inc|ltd|corp|gmbh)\b", "", name.lower())


def _empty(schema: dict[str, Any]) -> Any:
    kinds: dict[str, Any] = {"array": [], "string": "", "integer": 0, "number": 0, "boolean": False}
    if schema.get("type") == "object":
        return {name: _empty(part) for name, part in schema.get("properties", {}).items()}
    return kinds.get(str(schema.get("type")))
