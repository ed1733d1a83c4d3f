"""Reads a model's answer into the form that was asked for, whatever shape it came in. Pure.

How a form is described to it stands in `pipeline.llm.shapes`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from pipeline.llm.json_text import find_json
from pipeline.llm.shapes import (
    as_list,
    as_members,
    best_list,
    is_nothing,
    item_form,
    need_item_form,
    renamed,
    spread,
)

A = TypeVar("A", bound=BaseModel)


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
        named = renamed(value, form)
        known = {key: item for key, item in named.items() if key in form.model_fields}
        if not known and named:
            inner = [item for item in value.values() if isinstance(item, (Mapping, list))]
            if unwrap and len(inner) == 1:
                return self.members(inner[0], form, unwrap=False)
            if best_list(value, form):
                return self._from_list([value], form)
            raise Unreadable(f"none of the fields {', '.join(form.model_fields)} is there")
        for name in list(known):
            inner_form = item_form(form, name)
            if inner_form is not None:
                known[name] = self._items(known[name], inner_form)
            elif is_nothing(known[name]):
                del known[name]
        return known

    def _from_list(self, items: list[Any], form: type[BaseModel]) -> dict[str, Any]:
        if len(items) == 1 and isinstance(items[0], Mapping):
            outer = renamed(items[0], form)
            if any(isinstance(outer.get(name), list) for name in form.model_fields):
                return self.members(items[0], form, unwrap=False)
        sorted_out: dict[str, list[Any]] = {}
        for item in items:
            name = best_list(item, form)
            if name is None:
                self.dropped += 1
                self.reason = self.reason or f"{_shown(item)} is none of {', '.join(form.model_fields)}"
            else:
                sorted_out.setdefault(name, []).append(item)
        return {name: self._items(some, need_item_form(form, name)) for name, some in sorted_out.items()}

    def _items(self, value: Any, form: type[BaseModel]) -> list[BaseModel]:
        if is_nothing(value):
            return []
        seen: dict[bytes, BaseModel] = {}
        for item in (one for each in as_list(value, form) for one in spread(each, form)):
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
        members = as_members(item, form)
        if members is None:
            self.reason = self.reason or f"{_shown(item)} is not an object"
            return None
        inner = _Fitter()
        for name in list(members):
            inner_form = item_form(form, name)
            if inner_form is not None:
                members[name] = inner._items(members[name], inner_form)
        if getattr(form, "whole", False):
            if inner.dropped and not inner.kept:
                self.reason = self.reason or inner.reason
                return None
            self.dropped += inner.dropped
            self.repeated += inner.repeated
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


def _signature(item: Any) -> bytes:
    return orjson.dumps(item.model_dump(mode="json") if isinstance(item, BaseModel) else item, default=str)


def _first_fault(error: ValidationError) -> str:
    fault = error.errors()[0]
    return f"{'.'.join(str(part) for part in fault['loc'])}: {fault['msg']}"


def _shown(item: Any) -> str:
    return repr(item)[:80]
