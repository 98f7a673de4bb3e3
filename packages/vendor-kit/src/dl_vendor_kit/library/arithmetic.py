"""Arithmetic and comparisons of expressions, and constants that the generator computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

from .located import close_names, quote
from .lowered import NS, Lowered
from .names import LARGEST_INT64, SMALLEST_INT64
from .syntax import Expression
from .tokens import ExpressionError

_Number = int | float
_NUMBERS = ("int", "double", "bool")
COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_COMPUTE: Mapping[str, Callable[[_Number, _Number], _Number]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "/": lambda left, right: left / right,
    "//": lambda left, right: left // right,
}


def calculate(
    expression: Expression,
    operator: str,
    operands: tuple[Expression, ...],
    lowered: list[Lowered],
) -> Lowered:
    """Return the result of ``+``, ``-``, ``*``, ``/``, ``//``, or of the sign ``-``.

    :raises ExpressionError: an operand is not a number, or a constant result does not exist.
    """
    for operand, value in zip(operands, lowered, strict=True):
        if value.kind not in ("int", "double"):
            raise ExpressionError(
                operand.column, f"arithmetic needs numbers, not {value.kind}; compute with numbers"
            )
    if len(lowered) == 1:
        constant = None if lowered[0].constant is None else -lowered[0].constant
        return Lowered(lowered[0].kind, f"(-{lowered[0].code})", constant=constant)
    left, right = lowered
    if operator in ("/", "//") and right.constant == 0:
        raise ExpressionError(operands[1].column, "divides by zero; correct the divisor")
    found = _code(expression, operator, left, right)
    if left.constant is None or right.constant is None:
        return found
    return replace(found, constant=_constant(expression, operator, left.constant, right.constant))


def _code(expression: Expression, operator: str, left: Lowered, right: Lowered) -> Lowered:
    whole = left.kind == right.kind == "int"
    if operator == "//":
        if not whole:
            raise ExpressionError(expression.column, "// divides integers; use /")
        return Lowered("int", f"{NS}::floor_divide({left.code}, {right.code})")
    if operator == "/" and whole:
        return Lowered("double", f"(static_cast<double>({left.code}) / {right.code})")
    return Lowered("int" if whole else "double", f"({left.code} {operator} {right.code})")


def _constant(
    expression: Expression, operator: str, left: int | float, right: int | float
) -> int | float:
    try:
        result = _COMPUTE[operator](left, right)
    except OverflowError:
        result = math.inf
    if isinstance(result, int) and not SMALLEST_INT64 <= result <= LARGEST_INT64:
        raise ExpressionError(
            expression.column, "the integer does not fit 64 bits; compute with smaller ones"
        )
    if not math.isfinite(result):
        raise ExpressionError(
            expression.column, "the number is too large for a double; compute with smaller ones"
        )
    return result


def compare(expression: Expression, operator: str, lowered: list[Lowered]) -> Lowered:
    """Return a comparison of two values.

    :raises ExpressionError: their kinds cannot be compared.
    """
    left, right = name_values(expression, lowered)
    if left.kind in _NUMBERS and right.kind in _NUMBERS:
        return Lowered("bool", f"({left.code} {operator} {right.code})")
    same = ("string", "dtype", "ints")
    if left.kind == right.kind and left.kind in same and operator in ("==", "!="):
        code = f"{NS}::equal({left.code}, {right.code})"
        return Lowered("bool", code if operator == "==" else f"(!{code})")
    raise ExpressionError(
        expression.column,
        f"{left.kind} and {right.kind} cannot be compared with {operator}; compare numbers, or "
        "equal kinds with == and !=",
    )


def name_values(expression: Expression, compared: list[Lowered]) -> list[Lowered]:
    """Return compared values with the numbers of an enumeration in place of their names.

    :raises ExpressionError: the contract does not have one of the texts.
    """
    values = next((value for value in compared if value.values), None)
    if values is None:
        return compared
    return [_named(expression, values, other) for other in compared]


def _named(expression: Expression, values: Lowered, other: Lowered) -> Lowered:
    if other.text is None:
        return other
    if other.text not in values.values:
        known = ", ".join(repr(value) for value in values.values)
        raise ExpressionError(
            expression.column,
            f"{values.code} is never {quote(other.text)}{close_names(other.text, values.values)}; "
            f"its values are {known}",
        )
    if values.kind == "string":
        return other
    number = values.values.index(other.text)
    return Lowered("int", f"int64_t{{{number}}}", constant=number, text=other.text)
