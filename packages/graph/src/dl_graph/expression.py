"""Symbolic sizes: arithmetic over the symbols of an entry.

In a file an expression is an integer, the name of a symbol, or ``[sign, a, b]`` with one of the
signs ``+ - * // % max min``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Json = Any
"""Expression in a file: an integer, a name, or a list of a sign and two expressions."""

_APPLY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "max": max,
    "min": min,
}


class Expression:
    """Size that depends on symbols, created by :meth:`EntryBuilder.symbol` and by arithmetic.

    :ivar json: the expression in the form of a file.
    """

    __slots__ = ("json",)

    def __init__(self, json: Json) -> None:
        self.json = json

    def __add__(self, other: Size) -> Size:
        return combine("+", self, other)

    def __radd__(self, other: Size) -> Size:
        return combine("+", other, self)

    def __sub__(self, other: Size) -> Size:
        return combine("-", self, other)

    def __rsub__(self, other: Size) -> Size:
        return combine("-", other, self)

    def __mul__(self, other: Size) -> Size:
        return combine("*", self, other)

    def __rmul__(self, other: Size) -> Size:
        return combine("*", other, self)

    def __floordiv__(self, other: Size) -> Size:
        return combine("//", self, other)

    def __mod__(self, other: Size) -> Size:
        return combine("%", self, other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and self.json == other.json

    def __hash__(self) -> int:
        return hash(text(self.json))

    def __repr__(self) -> str:
        return text(self.json)


Size = int | Expression
"""Size: an integer, or an expression of symbols."""


def combine(sign: str, a: Size, b: Size) -> Size:
    """Return ``a sign b``: an integer if both are integers, and simplified if one is neutral."""
    if isinstance(a, int) and isinstance(b, int):
        return _APPLY[sign](a, b)
    if sign in ("+", "-") and isinstance(b, int) and b == 0:
        return a
    if sign == "+" and isinstance(a, int) and a == 0:
        return b
    if sign == "*" and (as_json(a) == 0 or as_json(b) == 0):
        return 0
    if sign in ("*", "//") and as_json(b) == 1:
        return a
    if sign == "*" and as_json(a) == 1:
        return b
    return Expression([sign, as_json(a), as_json(b)])


def maximum(a: Size, b: Size) -> Size:
    """Return the larger size."""
    return combine("max", a, b)


def minimum(a: Size, b: Size) -> Size:
    """Return the smaller size."""
    return combine("min", a, b)


def as_json(size: Size) -> Json:
    """Return a size in the form of a file.

    :raises TypeError: the argument is not a size.
    """
    if isinstance(size, Expression):
        return size.json
    if isinstance(size, bool) or not hasattr(type(size), "__index__"):
        raise TypeError(f"{size!r} is not a size; pass an integer or an Expression")
    return int(size)


def evaluate(json: Json, sizes: Mapping[str, int]) -> int:
    """Return the value of an expression of a verified file.

    :param sizes: the size of each symbol.
    """
    if isinstance(json, list):
        sign, a, b = json
        return _APPLY[sign](evaluate(a, sizes), evaluate(b, sizes))
    return sizes[json] if isinstance(json, str) else int(json)


def bounds(json: Json, ranges: Mapping[str, tuple[int, int]]) -> tuple[int, int]:
    """Return a lower and an upper bound of an expression, both inclusive.

    :param ranges: the smallest and the largest size of each symbol.
    :raises ZeroDivisionError: a divisor may be zero or negative.
    """
    if not isinstance(json, list):
        return ranges[json] if isinstance(json, str) else (json, json)
    sign = json[0]
    (a, b), (c, d) = (bounds(each, ranges) for each in json[1:])
    if sign in ("//", "%") and c <= 0:
        raise ZeroDivisionError(text(json))
    if sign == "-":
        return a - d, b - c
    if sign == "%":
        return 0, min(b, d - 1) if a >= 0 else d - 1
    corners = [_APPLY[sign](x, y) for x in (a, b) for y in (c, d)]
    return min(corners), max(corners)


def text(json: Json) -> str:
    """Format an expression in infix notation."""
    if not isinstance(json, list):
        return str(json)
    sign, a, b = json
    if sign in ("max", "min"):
        return f"{sign}({text(a)}, {text(b)})"
    sides = [f"({text(x)})" if isinstance(x, list) and sign != "+" else text(x) for x in (a, b)]
    return f"{sides[0]} {sign} {sides[1]}"
