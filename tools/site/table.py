"""The table of pages, docs/pages.yaml."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "docs" / "pages.yaml"
HOME = "index.md"
KINDS = ("tutorials", "how-to", "reference", "explanation")


class TableError(ValueError):
    """docs/pages.yaml is invalid."""


@dataclass(frozen=True)
class Page:
    """A page of the site.

    :ivar address: path of its Markdown file in the site.
    :ivar source: path in the repository.
    """

    address: str
    source: str


@dataclass(frozen=True)
class Generated:
    """The place of the pages of a generator in the navigation."""

    name: str


@dataclass(frozen=True)
class Section:
    """A group of pages with a title."""

    title: str
    entries: tuple[Page | Generated | Section, ...]

    def pages(self) -> Iterator[Page]:
        """Yield the pages of this section and of the sections in it."""
        for entry in self.entries:
            if isinstance(entry, Section):
                yield from entry.pages()
            elif isinstance(entry, Page):
                yield entry


@dataclass(frozen=True)
class Kind(Section):
    """One of the four kinds of pages."""

    folder: str = ""
    about: str = ""


@dataclass(frozen=True)
class Table:
    """All pages of the site.

    :ivar addresses: addresses of pages by their source.
    """

    kinds: tuple[Kind, ...]
    addresses: Mapping[str, str] = field(default_factory=dict)

    def pages(self) -> Iterator[Page]:
        """Yield all pages."""
        yield Page(HOME, "README.md")
        for kind in self.kinds:
            yield from kind.pages()


def read_table(root: Path = ROOT) -> Table:
    """Return the table of the repository.

    :raises TableError: a page is missing, or has two kinds or an address of another page.
    """
    data = yaml.safe_load((root / "docs" / "pages.yaml").read_text("utf-8"))
    kinds = tuple(_kind(entry) for entry in data)
    if tuple(kind.folder for kind in kinds) != KINDS:
        raise TableError(f"docs/pages.yaml must have the kinds {', '.join(KINDS)}, in this order")
    sources: dict[str, str] = {}
    addresses: dict[str, str] = {}
    for page in Table(kinds).pages():
        if not (root / page.source).is_file():
            raise TableError(f"docs/pages.yaml names {page.source}, which does not exist")
        if page.source in addresses:
            raise TableError(f"docs/pages.yaml lists {page.source} twice")
        if page.address in sources:
            taken = sources[page.address]
            raise TableError(f"{page.source} and {taken} have the same address, {page.address}")
        sources[page.address] = page.source
        addresses[page.source] = page.address
    unlisted = {str(x.relative_to(root)) for x in root.glob("docs/**/*.md")} - set(addresses)
    if unlisted:
        raise TableError(f"docs/pages.yaml does not list {', '.join(sorted(unlisted))}")
    return Table(kinds, addresses)


def _kind(data: Mapping[str, Any]) -> Kind:
    folder = data["kind"]
    return Kind(data["title"], _entries(data["pages"], folder), folder, data["about"])


def _entries(data: list[Any], folder: str) -> tuple[Page | Generated | Section, ...]:
    return tuple(_entry(entry, folder) for entry in data)


def _entry(data: Any, folder: str) -> Page | Generated | Section:
    if isinstance(data, str):
        return Page(f"{folder}/{PurePosixPath(data).stem}.md", data)
    if "title" in data:
        return Section(data["title"], _entries(data["pages"], folder))
    ((name, value),) = data.items()
    if name == "generated":
        return Generated(value)
    return Page(f"{folder}/{name}.md", value)
