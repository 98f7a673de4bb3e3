"""Links of repository documents, rewritten for the site.

Documents link to files of the repository by relative paths, as viewers of repositories expect. On
the site, a link to a document leads to its page, a link to another file to a page with its text.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from pathlib import Path

_FENCE = re.compile(r"^\s*(```+|~~~+)")
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)
_LINK = re.compile(r"(?P<head>\]\(|\b(?:src|srcset|href)=\")(?P<target>[^)\s\"]+)")
_OUTSIDE = re.compile(r"[a-z][a-z0-9+.-]*:|#|/", re.IGNORECASE)
_PARAGRAPH = re.compile(r"(\n[ \t]*\n)")


def rewrite(text: str, replace: Callable[[str], str]) -> str:
    """Return a Markdown document with the targets of its relative links replaced.

    Code, absolute addresses and links within the document are left unchanged.
    """
    return "".join(
        block if code else _rewrite_prose(block, replace) for code, block in _blocks(text)
    )


def relative_targets(text: str) -> set[str]:
    """Return the targets of the relative links of a Markdown document, without anchors."""
    found = set()

    def note(target: str) -> str:
        found.add(target.partition("#")[0])
        return target

    rewrite(text, note)
    return found


def _blocks(text: str) -> Iterator[tuple[bool, str]]:
    """Yield the parts of a document, with True for code blocks."""
    lines: list[str] = []
    fence = ""
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if not fence and mark:
            yield False, "".join(lines)
            lines, fence = [line], mark[1]
        elif fence and mark and mark[1].startswith(fence) and line.strip() == mark[1]:
            yield True, "".join([*lines, line])
            lines, fence = [], ""
        elif not fence and line.startswith("    ") and not "".join(lines[-1:]).strip():
            # An indented code block, or the continuation of a list, which has no links either.
            yield False, "".join(lines)
            yield True, line
            lines = []
        else:
            lines.append(line)
    yield bool(fence), "".join(lines)


def _rewrite_prose(text: str, replace: Callable[[str], str]) -> str:
    return "".join(_rewrite_paragraph(part, replace) for part in _PARAGRAPH.split(text))


def _rewrite_paragraph(text: str, replace: Callable[[str], str]) -> str:
    spans = [match.span() for match in _CODE.finditer(text)]

    def change(match: re.Match[str]) -> str:
        in_code = any(first <= match.start() < last for first, last in spans)
        if in_code or _OUTSIDE.match(match["target"]):
            return match[0]
        return match["head"] + replace(match["target"])

    return _LINK.sub(change, text)


class Links:
    """The addresses of repository files on the site."""

    def __init__(self, root: Path, addresses: dict[str, str]) -> None:
        """
        :param addresses: address of the page of each repository file that has one.
        """
        self._root = root
        self._addresses = addresses

    def target_of(self, source: str, link: str) -> str:
        """Return the repository path of a link's target, without its anchor.

        :param source: repository path of the document with the link.
        """
        folder = posixpath.dirname(source)
        path = posixpath.normpath(posixpath.join(folder, link.partition("#")[0]))
        if (self._root / path).is_dir() and f"{path}/README.md" in self._addresses:
            return f"{path}/README.md"
        return path

    def rewritten(self, source: str, address: str, text: str) -> str:
        """Return a document with the links of its page."""

        def replace(link: str) -> str:
            path, mark, anchor = link.partition("#")
            found = self._addresses.get(self.target_of(source, path))
            if found is None:
                # mkdocs reports it, unless it is the address of a generated page.
                return link
            return posixpath.relpath(found, posixpath.dirname(address) or ".") + mark + anchor

        return rewrite(text, replace)
