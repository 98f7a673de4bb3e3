"""Makes text that comes from elsewhere safe to show on a terminal."""

from __future__ import annotations


def printable(text: str, longest: int = 4096) -> str:
    r"""One line that shows what ``text`` holds, and does nothing else to a terminal.

    Ends of lines, control characters, marks that turn the direction of writing and halves of
    characters are escaped, so that nobody can forge a line of ours or hide one.

    >>> printable("a\nProblems: none\x1b[2J")
    'a\\nProblems: none\\x1b[2J'
    """
    shown = "".join(c if c.isprintable() else _escaped(c) for c in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
