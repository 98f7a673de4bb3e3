"""Parts of expressions, as :mod:`dl_vendor_kit.library.expressions` reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expression:
    """A part of an expression; ``column`` is its offset in the text."""

    column: int


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A parameter of the operator, a dtype, or a loop index."""

    name: str


@dataclass(frozen=True, slots=True)
class Temporary(Expression):
    """``$name``."""

    name: str


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A number, a string, a boolean, or None for ``null``."""

    value: int | float | str | bool | None


@dataclass(frozen=True, slots=True)
class Items(Expression):
    """``[a, b]``, or ``(a, b)`` after ``in``."""

    items: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """``view(...)``, ``@helper(...)``, or a function of the library."""

    function: str
    helper: bool
    arguments: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Operation(Expression):
    """Operator with its operands: ``not``, ``-``, ``+``, ``==``, ``in``, ``and`` and so on."""

    operator: str
    operands: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Index(Expression):
    """``list[index]``."""

    of: Expression
    index: Expression


def children(expression: Expression) -> Iterator[Expression]:
    """Return the parts of an expression."""
    match expression:
        case Items(items=parts) | Call(arguments=parts) | Operation(operands=parts):
            yield from parts
        case Index(of=of, index=index):
            yield of
            yield index
