"""What tokens cost. There is no built-in list: prices change, and contracts differ. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from pipeline.errors import SettingError
from pipeline.model.episode import Usage

PER = 6
"""Prices are for ten to this power of tokens."""
Rate = Annotated[Decimal, Field(ge=0, max_digits=15, decimal_places=6)]


class ModelPrice(BaseModel):
    """Prices of one model for a million tokens, in whatever unit the operator reckons in.

    `cached` is for prompt tokens that the endpoint had cached; those cost as much as others when it is left out.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    prompt: Rate = Decimal(0)
    cached: Rate | None = None
    completion: Rate = Decimal(0)
    embedding: Rate = Decimal(0)


_prices: TypeAdapter[dict[str, ModelPrice]] = TypeAdapter(dict[str, ModelPrice])


class Prices:
    """Prices by the model's name, as it is configured. Without any, nothing has a cost."""

    def __init__(self, models: Mapping[str, ModelPrice] | None = None) -> None:
        self._models = dict(models or {})

    @classmethod
    def read(cls, given: Mapping[str, object]) -> Prices:
        """From decoded JSON: {"model": {"prompt": 2, "cached": 0.5, "completion": 8}}. Raises SettingError."""
        try:
            return cls(_prices.validate_python(given))
        except ValidationError as error:
            first = error.errors()[0]
            raise SettingError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from None

    def __bool__(self) -> bool:
        return bool(self._models)

    def missing(self, models: Iterable[str]) -> list[str]:
        """Those of the models that have no price."""
        return [model for model in dict.fromkeys(models) if model not in self._models]

    def chat(self, model: str, usage: Usage) -> Decimal | None:
        """The cost of one call. Cached tokens are a part of the prompt's."""
        price = self._models.get(model)
        if price is None:
            return None
        cached = min(usage.cached_tokens, usage.prompt_tokens)
        rate = price.prompt if price.cached is None else price.cached
        amount = (usage.prompt_tokens - cached) * price.prompt + cached * rate
        return (amount + usage.completion_tokens * price.completion).scaleb(-PER)

    def embedding(self, model: str, tokens: int) -> Decimal | None:
        """The cost of embedding so many tokens."""
        price = self._models.get(model)
        return None if price is None else (tokens * price.embedding).scaleb(-PER)
