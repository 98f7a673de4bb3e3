"""Escaping of foreign text for terminals."""

from __future__ import annotations

import sys


def printable(text: str, longest: int = 4096) -> str:
    r"""Return ``text`` as one line that is safe to print on a terminal.

    Line ends, control characters, marks that change the writing direction and surrogates are
    escaped, so that foreign text cannot forge or hide lines of the output.

    >>> printable("a\nProblems: none\x1b[2J")
    'a\\nProblems: none\\x1b[2J'
    """
    if text.isprintable() and len(text) <= longest:
        return text
    shown = "".join(c if c.isprintable() else _escaped(c) for c in text[:longest])
    return shown if len(text) <= longest else f"{shown}…"


def _escaped(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def printable_lines(text: str, longest: int = 1 << 14) -> str:
    r"""Escape each line as :func:`printable` does; keep line ends and tabs.

    :param longest: maximum length of a line in characters.

    >>> printable_lines("a\x1b[2J\n\tb\r")
    'a\\x1b[2J\n\tb\\r'
    """
    return "\n".join(
        "\t".join(printable(part, longest) for part in line.split("\t"))
        for line in text.split("\n")
    )


def write_output(text: str) -> None:
    """Write text that may contain foreign parts to standard output."""
    sys.stdout.write(printable_lines(text))


def write_error(text: str) -> None:
    """Write text that may contain foreign parts to standard error."""
    sys.stderr.write(printable_lines(text))
