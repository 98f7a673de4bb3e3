"""Drawings, which pages contain as SVG so that they follow the site's light and dark mode."""

from __future__ import annotations

import posixpath
import re
from pathlib import Path

_IMAGE = re.compile(r"^!\[[^\]]*\]\(([^)\s]+\.svg)\)$", re.MULTILINE)


def with_drawings(root: Path, source: str, text: str) -> str:
    """Return a document with its SVG images, each in a line of its own, replaced by their content.

    :param source: repository path of the document.
    """

    def replace(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(source), match[1]))
        drawing = (root / path).read_text("utf-8").strip()
        return f'<figure class="drawing">\n{drawing}\n</figure>'

    return _IMAGE.sub(replace, text)
