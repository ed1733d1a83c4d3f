"""The shapes in which models give a value of a form, brought to the one that was asked for. Pure.

An answer form is a pydantic model. It may say more about itself in class variables:

| class variable | meaning |
|---|---|
| `other_names` | other key → field: how models rename the field ("nodes" → "entities") |
| `text_field` | the field that a bare string stands for ("Ana" → {"name": "Ana"}) |
| `positions` | the fields that a bare list stands for (["Ana", "WORKS_AT", "Acme"]) |
| `spread` | the fields of which each value of a list makes an item of its own (subject: [Ana, Luis] → two facts) |
| `whole` | an item is an answer of its own: it is dropped when it has items and none of them fits |
| `value_field` | with `text_field`: the fields of a map's key and value ({"age": 3} → {"name": "age", "value": 3}) |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice, product
from typing import Any, get_args, get_origin

from pydantic import BaseModel

from pipeline.llm.json_text import find_json

MAX_SPREAD = 100

_NOTHING = frozenset({"", "null", "none", "n/a", "nil", "undefined"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def as_list(value: Any, form: type[BaseModel]) -> list[Any]:
    """The items of a list field: of a list, of JSON in a string, of a map by name, or the one thing given."""
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return as_list(find_json(value).value, form)
        except ValueError:
            return [value]
    if not isinstance(value, Mapping) or set(renamed(value, form)) & set(form.model_fields):
        return [value]
    text_field, value_field = getattr(form, "text_field", ""), getattr(form, "value_field", "")
    if value_field:
        return [{text_field: key, value_field: item} for key, item in value.items()]
    if text_field:
        return [
            {text_field: key, **item} if isinstance(item, Mapping) else key for key, item in value.items()
        ]
    return [value]


def as_members(item: Any, form: type[BaseModel]) -> dict[str, Any] | None:
    """The members of one item under the form's own names; None when it is nothing that the form can take."""
    if isinstance(item, str) and item.lstrip().startswith("{"):
        try:
            item = find_json(item).value
        except ValueError:
            return None
    if isinstance(item, (str, int, float)) and not isinstance(item, bool):
        text_field = getattr(form, "text_field", "")
        return {text_field: str(item)} if text_field else None
    if isinstance(item, list):
        positions = getattr(form, "positions", ())
        return dict(zip(positions, item, strict=False)) if positions and len(item) >= len(positions) else None
    if not isinstance(item, Mapping):
        return None
    named = {k: v for k, v in renamed(item, form).items() if k in form.model_fields and not is_nothing(v)}
    return {k: _fitting(v, form, k) for k, v in named.items()}


def spread(item: Any, form: type[BaseModel]) -> list[Any]:
    """The items that one item stands for: one for each combination of the lists in the fields that are spread."""
    fields = getattr(form, "spread", ())
    if not fields or not isinstance(item, Mapping):
        return [item]
    named = renamed(item, form)
    several = {name: named[name] for name in fields if isinstance(named.get(name), list) and named[name]}
    if not several:
        return [item]
    combined = islice(product(*several.values()), MAX_SPREAD)
    return [{**named, **dict(zip(several, values, strict=True))} for values in combined]


def _fitting(value: Any, form: type[BaseModel], name: str) -> Any:
    """A list where a list belongs (one plain value is a list of one), a scalar elsewhere."""
    if item_form(form, name):
        return value
    if get_origin(form.model_fields[name].annotation) is list:
        return value if isinstance(value, list) else [value]
    return _flat(value)


def _flat(value: Any) -> Any:
    """A scalar where a scalar belongs: the name of an object, the first of a list."""
    if isinstance(value, Mapping):
        return next((value[k] for k in ("name", "id", "value", "text") if k in value), value)
    return value[0] if isinstance(value, list) and value else value


def renamed(value: Mapping[str, Any], form: type[BaseModel]) -> dict[str, Any]:
    """Keys in the form's own names; what already has the right name wins over what is renamed to it."""
    others: Mapping[str, str] = getattr(form, "other_names", {})
    made: dict[str, Any] = {}
    for key, item in value.items():
        name = _CAMEL.sub("_", str(key)).strip().lower().replace(" ", "_").replace("-", "_")
        exact = name in form.model_fields
        name = name if exact else others.get(name, name)
        if exact or name not in made:
            made[name] = item
    return made


def best_list(item: Any, form: type[BaseModel]) -> str | None:
    """The list field whose items look most like this one; None when none does."""
    best, score = None, 0
    for name in form.model_fields:
        inner = item_form(form, name)
        if inner is None:
            continue
        members = as_members(item, inner)
        required = {n for n, f in inner.model_fields.items() if f.is_required()}
        if members and required <= set(members) and len(members) > score:
            best, score = name, len(members)
    return best


def item_form(form: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The form of a list field's items; None for any other field."""
    field = form.model_fields.get(name)
    if field is None or get_origin(field.annotation) is not list:
        return None
    (inner,) = get_args(field.annotation)
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def need_item_form(form: type[BaseModel], name: str) -> type[BaseModel]:
    """The same, for a field that is known to be such a list."""
    found = item_form(form, name)
    if found is None:
        raise TypeError(f"{name} is no list of objects")
    return found


def is_nothing(value: Any) -> bool:
    """Whether a value is null, or one of the words by which models say so."""
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)
