"""Symbols of an FX graph, and conversion of torch's expressions to sizes of a contract graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from dl_dicp.errors import FixedSizesError
from dl_graph.expression import Expression, Json, Size, combine, maximum, minimum

LEAST = 2
"""Smallest symbolic size: sizes 0 and 1 are specialized, since dl-core treats them differently."""

MOST = 1 << 20
"""Largest size that a program serves, unless its expressions overflow 64 bits earlier."""


@dataclass(frozen=True)
class Symbol:
    """Symbol: a size that varies.

    :ivar place: index of an argument from which it is read.
    :ivar dimension: dimension of that argument; -1 if the argument is an integer.
    """

    name: str
    place: int
    dimension: int
    least: int
    most: int


@dataclass(frozen=True)
class Layout:
    """Sizes and strides of an argument, in elements."""

    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


class Reader:
    """Converter of torch's expressions to sizes of a contract graph."""

    def __init__(self, ranges: Mapping[Any, Any] | None) -> None:
        self._ranges = ranges
        self._known: dict[Any, Size] = {}
        self._environment: Any = None

    def size(self, value: Any) -> Size:
        if not isinstance(value, torch.SymInt):
            return int(value)
        self._environment = value.node.shape_env
        return self._of(value.node.expr)

    def layout(self, tensor: torch.Tensor) -> Layout:
        return Layout(tuple(map(self.size, tensor.shape)), tuple(map(self.size, tensor.stride())))

    def argument(self, value: Any) -> Layout | Size | None:
        if isinstance(value, torch.Tensor):
            return self.layout(value) if value.layout == torch.strided else None
        integer = isinstance(value, int | torch.SymInt) and not isinstance(value, bool)
        return self.size(value) if integer else None

    def names(self, json: Json) -> set[str]:
        """Return the symbols of an expression."""
        if isinstance(json, list):
            return self.names(json[1]) | self.names(json[2])
        return {json} if isinstance(json, str) else set()

    def symbols(self, arguments: Sequence[Layout | Size | None]) -> list[Symbol]:
        """Return each symbol with the first argument size that equals it."""
        out: dict[str, Symbol] = {}
        for place, argument in enumerate(arguments):
            sizes = enumerate(argument.sizes) if isinstance(argument, Layout) else [(-1, argument)]
            for dimension, size in sizes:
                if isinstance(size, Expression) and isinstance(size.json, str):
                    least, most = self._range(size.json)
                    if least <= most:
                        symbol = Symbol(size.json, place, dimension, least, most)
                        out.setdefault(size.json, symbol)
        return list(out.values())

    def _range(self, name: str) -> tuple[int, int]:
        ranges = self._environment.var_to_range if self._ranges is None else self._ranges
        found = next((r for symbol, r in ranges.items() if str(symbol) == name), None)
        least, most = LEAST, MOST
        if found is not None and found.lower.is_Integer:
            least = max(least, int(found.lower))
        if found is not None and found.upper.is_Integer:
            most = min(most, int(found.upper))
        return least, most

    def guards(self, known: Mapping[str, Any]) -> list[Json]:
        """Return Dynamo's guards on these symbols."""
        out: list[Json] = []
        for guard in self._environment.guards:
            if {str(s) for s in guard.expr.free_symbols} <= known.keys():
                out += self._guard(guard.expr)
        return out

    def _guard(self, relation: Any) -> list[Json]:
        kind = type(relation).__name__
        if kind == "And":
            return [each for part in relation.args for each in self._guard(part)]
        if kind not in _RELATIONS:
            raise FixedSizesError(f"a graph cannot check the guard {relation}")
        a, b = (self._of(side) for side in (relation.lhs, relation.rhs))
        if kind == "Unequality":
            apart = combine("-", a, b)
            sides: tuple[Size, Size] = (0, combine("*", apart, apart))
        else:
            sides = (b, a) if kind.endswith("GreaterThan") else (a, b)
        return [[_RELATIONS[kind], *(s if isinstance(s, int) else s.json for s in sides)]]

    def _of(self, expression: Any) -> Size:
        if expression not in self._known:
            self._known[expression] = self._convert(expression)
        return self._known[expression]

    def _convert(self, expression: Any) -> Size:
        if expression.is_Integer:
            return int(expression)
        if expression.is_Symbol:
            return Expression(str(expression))
        kind = type(expression).__name__
        args = expression.args
        if kind == "Pow" and args[1].is_Integer and int(args[1]) > 0:
            kind, args = "Mul", (args[0],) * int(args[1])
        if kind not in _SIGNS:
            raise FixedSizesError(f"a size is {expression}, which a graph cannot compute")
        first, *others = map(self._of, args)
        for other in others:
            first = _SIGNS[kind](first, other)
        return first


def _with(sign: str) -> Any:
    return lambda a, b: combine(sign, a, b)


_SIGNS: dict[str, Any] = {
    "Add": _with("+"),
    "Mul": _with("*"),
    "FloorDiv": _with("//"),
    "CleanDiv": _with("//"),
    "Mod": _with("%"),
    "PythonMod": _with("%"),
    "Max": maximum,
    "Min": minimum,
}
_RELATIONS = {
    "Equality": "==",
    "Unequality": "<",
    "LessThan": "<=",
    "StrictLessThan": "<",
    "GreaterThan": "<=",
    "StrictGreaterThan": "<",
}
