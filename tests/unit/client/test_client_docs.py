"""The examples of docs/client.md, run against a real gateway and search service."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

from factstream.embedded import EmbeddedUrls

PAGE = Path(__file__).resolve().parents[3] / "docs" / "client.md"


def test_the_examples_run(blocking_urls: EmbeddedUrls) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.S)
    code = "".join(blocks)
    code = code.replace("http://127.0.0.1:8081", blocking_urls.search)
    code = code.replace("http://127.0.0.1:8080", blocking_urls.gateway)
    page = doctest.DocTestParser().get_doctest(code, {}, PAGE.name, str(PAGE), 0)
    outcome = doctest.DocTestRunner(verbose=False).run(page)
    assert outcome.attempted > 15
    assert outcome.failed == 0
