"""Words and symbols of expressions."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .located import LONGEST_TEXT, quote

_GRAMMAR = "see the grammar in docs/library-format.md"
_TOKEN = re.compile(
    r"""
    (?P<space>\s+)
    | (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?(?!\w))
    | (?P<text>'[^'\\]*'|"[^"\\]*")
    | (?P<mark>[$@][A-Za-z_]\w*)
    | (?P<name>[A-Za-z_]\w*)
    | (?P<symbol>//|==|!=|<=|>=|[-+*/<>()\[\],.])
    """,
    re.VERBOSE | re.ASCII,
)
END = "end"


class ExpressionError(Exception):
    """An invalid expression; ``column`` is the offset in its text."""

    def __init__(self, column: int, message: str) -> None:
        super().__init__(message)
        self.column = column


@dataclass(frozen=True, slots=True)
class Token:
    """A part of an expression.

    :ivar kind: ``number``, ``text``, ``mark`` (``$`` or ``@`` with a name), ``name``, ``symbol`` or
        ``end``.
    :ivar column: its offset in the text.
    """

    kind: str
    text: str
    column: int


def tokens_of(text: str) -> list[Token]:
    """Return the parts of an expression, and a last one of the kind ``end``.

    :raises ExpressionError: a part does not belong to an expression.
    """
    if len(text) > LONGEST_TEXT:
        raise ExpressionError(
            0, f"has {len(text)} characters, and the limit is {LONGEST_TEXT}; divide it"
        )
    found = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(position, _reason(text, position))
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match[0], position))
        position = match.end()
    found.append(Token(END, "", len(text)))
    return found


def unexpected(token: Token) -> ExpressionError:
    """Return the error about a part where another one is needed."""
    if token.kind == END:
        return ExpressionError(token.column, f"cannot be read: it is incomplete; {_GRAMMAR}")
    shown = quote(token.text, 40)
    return ExpressionError(
        token.column, f"cannot be read: {shown} is not part of an expression here; {_GRAMMAR}"
    )


def _reason(text: str, position: int) -> str:
    character = text[position]
    if character in "'\"":
        if text.find(character, position + 1) < 0:
            return "cannot be read: a text has no closing quote; add it"
        return "cannot be read: a text contains a backslash; texts have no escape sequences"
    if character.isdigit() or character == ".":
        return (
            f"cannot be read: {quote(text[position : position + 20], 20)} is not a number; write "
            "decimal digits, as in 16 or 0.5"
        )
    if character == "=":
        return "cannot be read: '=' is not part of an expression; write == to compare"
    return f"cannot be read: {quote(character)} is not part of an expression here; {_GRAMMAR}"
