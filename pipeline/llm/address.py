"""Where an endpoint is: from whatever address an operator has copied to the address of a request. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from urllib.parse import urlsplit

_PATHS = ("/chat/completions", "/embeddings")
VERSION = "/v1"


@dataclass(frozen=True)
class Address:
    """`base` goes up to the version and has no slash at its end; `query` stands behind every path, as Azure wants it.

    `base` is what messages show: a query may carry a key.
    """

    base: str
    query: str = ""

    @classmethod
    def read(cls, text: str) -> Address:
        """From "https://host/v1", with or without a slash, a query, or the path of one of the requests."""
        base, _, query = text.strip().partition("?")
        base = base.rstrip("/")
        for path in _PATHS:
            base = base.removesuffix(path)
        return cls(base.rstrip("/"), query.strip())

    def of(self, path: str) -> str:
        """The address of a request."""
        return f"{self.base}{path}?{self.query}" if self.query else f"{self.base}{path}"

    def versioned(self) -> Address | None:
        """The same with the version that most endpoints have; None when there is a path already."""
        return None if urlsplit(self.base).path else replace(self, base=self.base + VERSION)

    @property
    def is_azure(self) -> bool:
        """Whether the key goes into a header of its own there."""
        return "api-version=" in self.query or (urlsplit(self.base).hostname or "").endswith(".azure.com")
