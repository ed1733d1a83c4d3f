"""Reads a model's answer into the form that was asked for, whatever shape it came in. Pure.

An answer form is a pydantic model. It may say more about itself in class variables:

| class variable | meaning |
|---|---|
| `other_names` | other key → field: how models rename the field ("nodes" → "entities") |
| `text_field` | the field that a bare string stands for ("Ana" → {"name": "Ana"}) |
| `positions` | the fields that a bare list stands for (["Ana", "WORKS_AT", "Acme"]) |
| `value_field` | with `text_field`: the fields of a map's key and value ({"age": 3} → {"name": "age", "value": 3}) |
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, get_args, get_origin

import orjson
from pydantic import BaseModel, ValidationError

from pipeline.llm.json_text import find_json

A = TypeVar("A", bound=BaseModel)

_NOTHING = frozenset({"", "null", "none", "n/a", "nil", "undefined"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Unreadable(Exception):
    """The answer cannot be used; the reason is written for the model that gave it."""


@dataclass(frozen=True)
class Reading(Generic[A]):
    """An answer. `complete` is False when it broke off and more was to come.

    `dropped` counts items that fit no form, `repeated` items that were said before.
    """

    answer: A
    complete: bool
    dropped: int = 0
    repeated: int = 0


def read_answer(text: str, form: type[A]) -> Reading[A]:
    """The answer in a text. Raises Unreadable when nothing of it fits the form."""
    try:
        found = find_json(text)
    except ValueError as error:
        raise Unreadable(str(error)) from None
    fitter = _Fitter()
    members = fitter.members(found.value, form)
    if fitter.dropped and not fitter.kept:
        raise Unreadable(f"none of its items fits the form: {fitter.reason}")
    if not found.complete and not any(members.values()):
        raise Unreadable("it was cut off before its first item was finished")
    try:
        answer = form.model_validate(members)
    except ValidationError as error:
        raise Unreadable(_first_fault(error)) from None
    return Reading(answer, found.complete, fitter.dropped, fitter.repeated)


def joined(first: A, second: A) -> A:
    """Two parts of one answer: lists one after the other, each item once; all else as the first says."""
    update: dict[str, Any] = {}
    for name in type(first).model_fields:
        mine, more = getattr(first, name), getattr(second, name)
        if isinstance(mine, list):
            update[name] = list({_signature(item): item for item in [*mine, *more]}.values())
    return first.model_copy(update=update)


class _Fitter:
    """Fits decoded JSON to forms and counts what it had to do."""

    def __init__(self) -> None:
        self.kept = self.dropped = self.repeated = 0
        self.reason = ""

    def members(self, value: Any, form: type[BaseModel], unwrap: bool = True) -> dict[str, Any]:
        """The members of the outermost object."""
        if isinstance(value, list):
            return self._from_list(value, form)
        if not isinstance(value, Mapping):
            raise Unreadable("it must be a JSON object")
        named = _renamed(value, form)
        known = {key: item for key, item in named.items() if key in form.model_fields}
        if not known and named:
            inner = [item for item in value.values() if isinstance(item, (Mapping, list))]
            if unwrap and len(inner) == 1:
                return self.members(inner[0], form, unwrap=False)
            if _best_list(value, form):
                return self._from_list([value], form)
            raise Unreadable(f"none of the fields {', '.join(form.model_fields)} is there")
        for name in list(known):
            item_form = _item_form(form, name)
            if item_form is not None:
                known[name] = self._items(known[name], item_form)
            elif _is_nothing(known[name]):
                del known[name]
        return known

    def _from_list(self, items: list[Any], form: type[BaseModel]) -> dict[str, Any]:
        if len(items) == 1 and isinstance(items[0], Mapping):
            outer = _renamed(items[0], form)
            if any(isinstance(outer.get(name), list) for name in form.model_fields):
                return self.members(items[0], form, unwrap=False)
        sorted_out: dict[str, list[Any]] = {}
        for item in items:
            name = _best_list(item, form)
            if name is None:
                self.dropped += 1
                self.reason = self.reason or f"{_shown(item)} is none of {', '.join(form.model_fields)}"
            else:
                sorted_out.setdefault(name, []).append(item)
        return {name: self._items(some, _need_item_form(form, name)) for name, some in sorted_out.items()}

    def _items(self, value: Any, form: type[BaseModel]) -> list[BaseModel]:
        if _is_nothing(value):
            return []
        seen: dict[bytes, BaseModel] = {}
        for item in _as_list(value, form):
            fitted = self._item(item, form)
            if fitted is None:
                self.dropped += 1
                continue
            signature = _signature(fitted)
            self.repeated += signature in seen
            self.kept += signature not in seen
            seen.setdefault(signature, fitted)
        return list(seen.values())

    def _item(self, item: Any, form: type[BaseModel]) -> BaseModel | None:
        members = _as_members(item, form)
        if members is None:
            self.reason = self.reason or f"{_shown(item)} is not an object"
            return None
        for name in list(members):
            item_form = _item_form(form, name)
            if item_form is not None:
                members[name] = self._nested(members[name], item_form)
        for _ in range(2):
            try:
                return form.model_validate(members)
            except ValidationError as error:
                self.reason = self.reason or _first_fault(error)
                # What is optional and wrong is left out, so that the rest of the item is not lost with it.
                for fault in error.errors():
                    name = str(fault["loc"][0]) if fault["loc"] else ""
                    if name in form.model_fields and not form.model_fields[name].is_required():
                        members.pop(name, None)
        return None

    def _nested(self, value: Any, form: type[BaseModel]) -> list[BaseModel]:
        inner = _Fitter()
        return inner._items(value, form)


def _as_list(value: Any, form: type[BaseModel]) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str) and value.lstrip().startswith(("[", "{")):
        try:
            return _as_list(find_json(value).value, form)
        except ValueError:
            return [value]
    if not isinstance(value, Mapping) or set(_renamed(value, form)) & set(form.model_fields):
        return [value]
    text_field, value_field = getattr(form, "text_field", ""), getattr(form, "value_field", "")
    if value_field:
        return [{text_field: key, value_field: item} for key, item in value.items()]
    if text_field:
        return [
            {text_field: key, **item} if isinstance(item, Mapping) else key for key, item in value.items()
        ]
    return [value]


def _as_members(item: Any, form: type[BaseModel]) -> dict[str, Any] | None:
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
    named = {k: v for k, v in _renamed(item, form).items() if k in form.model_fields and not _is_nothing(v)}
    return {k: v if _item_form(form, k) else _flat(v) for k, v in named.items()}


def _flat(value: Any) -> Any:
    """A scalar where a scalar belongs: the name of an object, the first of a list."""
    if isinstance(value, Mapping):
        return next((value[k] for k in ("name", "id", "value", "text") if k in value), value)
    return value[0] if isinstance(value, list) and value else value


def _renamed(value: Mapping[str, Any], form: type[BaseModel]) -> dict[str, Any]:
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


def _best_list(item: Any, form: type[BaseModel]) -> str | None:
    """The list field whose items look most like this one; None when none does."""
    best, score = None, 0
    for name in form.model_fields:
        item_form = _item_form(form, name)
        if item_form is None:
            continue
        members = _as_members(item, item_form)
        required = {n for n, f in item_form.model_fields.items() if f.is_required()}
        if members and required <= set(members) and len(members) > score:
            best, score = name, len(members)
    return best


def _item_form(form: type[BaseModel], name: str) -> type[BaseModel] | None:
    field = form.model_fields.get(name)
    if field is None or get_origin(field.annotation) is not list:
        return None
    (inner,) = get_args(field.annotation)
    return inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None


def _need_item_form(form: type[BaseModel], name: str) -> type[BaseModel]:
    found = _item_form(form, name)
    if found is None:
        raise TypeError(f"{name} is no list of objects")
    return found


def _is_nothing(value: Any) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() in _NOTHING)


def _signature(item: Any) -> bytes:
    return orjson.dumps(item.model_dump(mode="json") if isinstance(item, BaseModel) else item, default=str)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"


def _shown(item: Any) -> str:
    return repr(item)[:80]
