"""Check of the built site: links have targets and readable texts, and no other host is needed.

    python -m tools.site.check build/site

mkdocs checks the links that it knows; this program checks all of the HTML.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("source", "srcset"),
    ("use", "href"),
}
"""Attributes whose address the browser loads without a click."""


@dataclass
class _Page(HTMLParser):
    """Links, their texts, and anchors of a page."""

    loaded: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self._text: list[str] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            self._text = []
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
        for name, value in attrs:
            if not value:
                continue
            # A canonical address is only named.
            if (tag, name) in _LOADED or (tag, name) == ("link", "href"):
                self.loaded.append(value)
            elif name == "href":
                self.links.append(value)

    def handle_data(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        if tag == "a" and self._text is not None:
            self.texts.append("".join(self._text).strip())
            self._text = None


def problems(site: Path) -> Iterator[str]:
    """Yield a sentence for each dead link, each link text that is a file name, and each address of
    another host that a page loads."""
    pages = {path: _read(path) for path in sorted(site.rglob("*.html"))}
    for path, page in pages.items():
        name = path.relative_to(site)
        for text in page.texts:
            if text.endswith(".md"):
                yield f"{name} has a link with the text {text}; name the page by its title"
        for link in [*page.loaded, *page.links]:
            parts = urlsplit(link)
            if parts.scheme == "data":
                continue
            if parts.scheme or parts.netloc:
                if link in page.loaded:
                    yield f"{name} loads {link} from another host"
                continue
            # The page for missing addresses has links from the root of the host.
            folder = site if parts.path.startswith("/") else path.parent
            target = (folder / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                yield f"{name} links to {link}, which does not exist"
            elif parts.fragment and target in pages:
                wanted = unquote(parts.fragment)
                if wanted not in pages[target].anchors and not wanted.startswith("__"):
                    yield f"{name} links to {link}, whose anchor does not exist"
    for sheet in sorted(site.rglob("*.css")):
        if "url(http" in sheet.read_text("utf-8").replace("'", "").replace('"', ""):
            yield f"{sheet.relative_to(site)} loads a file from another host"


def _read(path: Path) -> _Page:
    page = _Page()
    page.feed(path.read_text("utf-8"))
    return page


def main() -> int:
    """Print the problems of a site."""
    if len(sys.argv) != 2 or not (site := Path(sys.argv[1]).resolve()).is_dir():
        print(
            "usage: python -m tools.site.check FOLDER, the folder of a built site", file=sys.stderr
        )
        return 2
    found = sorted(set(problems(site)))
    for problem in found:
        print(problem)
    print(f"{len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
