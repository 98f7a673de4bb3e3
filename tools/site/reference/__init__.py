"""Reference pages that are generated from their sources when the site is built."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Protocol


class Generator(Protocol):
    """Generator of the pages of one subject."""

    def nav(self) -> list[Any]:
        """Return the entries of the navigation, as in mkdocs' ``nav``."""

    def pages(self) -> Iterator[tuple[str, str]]:
        """Yield the address and the Markdown text of each page."""


GENERATORS: Mapping[str, Generator] = {}
