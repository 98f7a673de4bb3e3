"""Bounded arithmetic for untrusted expressions: excessive memory or time is an error."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

_BITS = 4096
"""Maximum number of bits of the result of a power or a shift."""
_LONGEST = 4096
"""Maximum number of elements of a string or list that a product yields."""


def power(base: Any, exponent: Any, *modulus: Any) -> Any:
    """Return ``pow`` with a bounded result."""
    whole = isinstance(base, int) and isinstance(exponent, int)
    if whole and not modulus and exponent > 0 and abs(base) > 1:
        _demand(base.bit_length() * exponent, f"{_format(base)} ** {_format(exponent)}")
    return pow(base, exponent, *modulus)


def shift(value: Any, by: Any) -> Any:
    """Return ``value << by`` with a bounded result."""
    if isinstance(value, int) and isinstance(by, int) and value and by > 0:
        _demand(value.bit_length() + by, f"{_format(value)} << {_format(by)}")
    return value << by


def product(left: Any, right: Any) -> Any:
    """Return ``left * right``, with bounded length of strings and lists."""
    for one, other in ((left, right), (right, left)):
        listed = isinstance(one, (str, bytes, list, tuple)) and isinstance(other, int)
        if listed and len(one) * other > _LONGEST:
            raise OverflowError(f"{len(one)} elements times {_format(other)} exceed the limit")
    return left * right


def _demand(bits: int, what: str) -> None:
    if bits > _BITS:
        raise OverflowError(f"{what} is too large: results may have up to {_BITS} bits")


def _format(value: int) -> str:
    return str(value) if value.bit_length() <= 64 else f"(an integer of {value.bit_length()} bits)"


_NAMES: dict[type[ast.operator], tuple[str, Callable[..., Any]]] = {
    ast.Pow: ("bounded power", power),
    ast.LShift: ("bounded shift", shift),
    ast.Mult: ("bounded product", product),
}
"""Names with a space, which no parameter can have."""
OPERATIONS: dict[str, Callable[..., Any]] = dict(_NAMES.values())


def _has_list(node: ast.BinOp) -> bool:
    """Return True for a product with a literal text or list."""
    return any(
        isinstance(each, (ast.List, ast.Tuple))
        or (isinstance(each, ast.Constant) and isinstance(each.value, (str, bytes)))
        for each in ast.walk(node)
    )


class Bounded(ast.NodeTransformer):
    """Transformer that replaces operators of an expression by calls of these functions."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """Replace an operation after its operands."""
        self.generic_visit(node)
        # Products of numbers stay unchanged, because they dominate the time of large spaces.
        if type(node.op) not in _NAMES or (isinstance(node.op, ast.Mult) and not _has_list(node)):
            return node
        name, _ = _NAMES[type(node.op)]
        function = ast.Name(name, ast.Load())
        return ast.copy_location(ast.Call(function, [node.left, node.right], []), node)
