"""The first page of each kind, which lists the pages of that kind."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator, Mapping
from typing import Any

from tools.site.table import Kind

_TITLE = re.compile(r"^# (.+)$", re.MULTILINE)


def kind_page(kind: Kind, nav: list[Any], texts: Mapping[str, str]) -> str:
    """Return the page of a kind.

    :param nav: the navigation of the kind, which begins with this page.
    :param texts: texts of all pages by address.
    """
    lines = "".join(_lines(nav[1:], kind.folder, texts))
    return f"# {kind.title}\n\n{kind.about}\n\n{lines}"


def _lines(entries: list[Any], folder: str, texts: Mapping[str, str]) -> Iterator[str]:
    # Pages without a section come first, so that no section seems to contain them.
    for entry in entries:
        if isinstance(entry, str):
            yield _line(entry, folder, texts)
    for entry in entries:
        if not isinstance(entry, str):
            ((title, content),) = entry.items()
            yield f"\n## {title}\n\n"
            for part in content:
                address = part if isinstance(part, str) else next(iter(part.values()))
                yield _line(address, folder, texts)


def _line(address: str, folder: str, texts: Mapping[str, str]) -> str:
    match = _TITLE.search(texts[address])
    title = match[1] if match else address
    return f"- [{title}]({posixpath.relpath(address, folder)})\n"
