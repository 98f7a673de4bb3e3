"""Makes text that comes from elsewhere safe to show on a terminal."""

from __future__ import annotations

import sys


def printable(text: str, longest: int = 4096) -> str:
    r"""One line that shows what ``text`` holds, and does nothing else to a terminal.

    Ends of lines, control characters, marks that turn the direction of writing and halves of
    characters are escaped, so that nobody can forge a line of ours or hide one.

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
    r"""Text of several lines, each as :func:`printable` shows it; line ends and tabs stay.

    :param longest: characters of a line.

    >>> printable_lines("a\x1b[2J\n\tb\r")
    'a\\x1b[2J\n\tb\\r'
    """
    return "\n".join(
        "\t".join(printable(part, longest) for part in line.split("\t"))
        for line in text.split("\n")
    )


def write_output(text: str) -> None:
    """Write text, parts of which may be foreign, to standard output."""
    sys.stdout.write(printable_lines(text))


def write_error(text: str) -> None:
    """Write text, parts of which may be foreign, to standard error."""
    sys.stderr.write(printable_lines(text))
