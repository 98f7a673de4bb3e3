"""Makes text of files and of other processes safe to show on a terminal."""

from __future__ import annotations


def printable(text: str) -> str:
    """Texts of a file must not steer the terminal."""
    return "".join(x if x.isprintable() else "?" for x in text)
