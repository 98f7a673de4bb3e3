"""What the sizes of an FX graph depend on: its symbols, as Dynamo and AOTAutograd have found them.

Every node says what its sizes, strides and numbers are in terms of the symbols. What a graph does
is recorded with numbers; this is where expressions for them come from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from diopi_proto.graph.expression import (
    Expression,
    Json,
    Size,
    bounds,
    combine,
    evaluate,
    maximum,
    minimum,
)

from .errors import FixedSizesError, OwnCaseError
from .memory import is_plain

LEAST = 2
"""Sizes of 0 and 1 take other ways through dl-core: each has a program of its own."""

MOST = 1 << 20
"""The largest size that a program serves, unless its expressions leave 64 bits before."""

Sizes = Mapping[str, int]
"""A size of each symbol."""


@dataclass(frozen=True)
class Symbol:
    """A size that varies.

    :ivar place: of an argument that has it.
    :ivar dimension: of that argument; -1: it is the argument, an integer.
    """

    name: str
    place: int
    dimension: int
    least: int
    most: int


@dataclass(frozen=True)
class Layout:
    """How an argument lies in memory, in elements."""

    sizes: tuple[Size, ...]
    strides: tuple[Size, ...]


@dataclass
class Shapes:
    """What is known of a graph's sizes.

    :ivar arguments: layouts of tensors, integers, None for all else.
    :ivar guards: what holds whenever it runs: ``[sign, a, b]`` as in a file.
    :ivar numbers: all that is said of tensors and integers of the graph and is no constant.
    """

    symbols: list[Symbol]
    arguments: list[Layout | Size | None]
    guards: list[Json]
    numbers: list[Expression]

    def sizes_of(self, arguments: Sequence[Any], device: torch.device) -> dict[str, int]:
        """The sizes of a call.

        :raises OwnCaseError: an argument lies otherwise than the graph says, or a guard does not
            hold.
        """
        out = {}
        for symbol in self.symbols:
            value = arguments[symbol.place]
            size = value if symbol.dimension < 0 else value.shape[symbol.dimension]
            out[symbol.name] = int(size)
            if not symbol.least <= size <= symbol.most:
                raise OwnCaseError(f"{symbol.name} = {size} is a case of its own")
        for place, (wanted, given) in enumerate(zip(self.arguments, arguments, strict=True)):
            if not _lies_as(wanted, given, out, device):
                raise OwnCaseError(f"argument {place} lies otherwise than was traced")
        if not self.hold(out):
            raise OwnCaseError("these sizes are a case of their own")
        return out

    def hold(self, sizes: Sizes) -> bool:
        """Whether all guards do."""
        return all(_holds(guard, sizes) for guard in self.guards)


def value_of(size: Size, sizes: Sizes) -> int:
    """The number that a size is."""
    return size if isinstance(size, int) else evaluate(size.json, sizes)


def _holds(guard: Json, sizes: Sizes) -> bool:
    sign, left, right = guard
    a, b = evaluate(left, sizes), evaluate(right, sizes)
    return a == b if sign == "==" else a < b if sign == "<" else a <= b


def _lies_as(wanted: Layout | Size | None, given: Any, sizes: Sizes, device: torch.device) -> bool:
    if isinstance(wanted, Layout):
        shape = [value_of(size, sizes) for size in wanted.sizes]
        if not is_plain(given, device):
            fixed = all(isinstance(size, int) for size in wanted.sizes)
            return fixed and isinstance(given, torch.Tensor)
        strides = [value_of(size, sizes) for size in wanted.strides]
        return list(given.shape) == shape and list(given.stride()) == strides
    if wanted is None:
        return True
    return not isinstance(given, bool) and bool(given == value_of(wanted, sizes))


def shapes_of(module: GraphModule, ranges: Mapping[Any, Any] | None = None) -> Shapes | None:
    """What a graph says of its sizes; None: none varies.

    :param ranges: of symbols, where they are others than Dynamo's.
    :raises FixedSizesError: a size depends on data, or needs what no contract graph has.
    """
    reader = _Reader(ranges)
    given = [n.meta.get("val") for n in module.graph.nodes if n.op == "placeholder"]
    arguments = [reader.argument(value) for value in given]
    symbols = reader.symbols(arguments)
    if not symbols:
        return None
    tensors: list[Layout] = []
    numbers: dict[Expression, None] = {}
    for node in module.graph.nodes:
        for leaf in tree_leaves(node.meta.get("val")):
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                layout = reader.layout(leaf)
                tensors.append(layout)
                found = _numbers_of(layout, reader.size(leaf.storage_offset()))
            else:
                found = iter([reader.size(leaf)] if isinstance(leaf, torch.SymInt) else [])
            numbers.update({each: None for each in found if isinstance(each, Expression)})
    known = {symbol.name: (symbol.least, symbol.most) for symbol in symbols}
    for number in numbers:
        if unknown := reader.names(number.json) - known.keys():
            raise FixedSizesError(f"a size depends on data: {', '.join(sorted(unknown))}")
    guards = [*reader.guards(known), *_apart_from_one(tensors, known)]
    return Shapes(symbols, arguments, guards, list(numbers))


def span_of(layout: Layout) -> Size:
    """How many elements lie between the first and the last one, both included."""
    total: Size = 1
    for size, stride in zip(layout.sizes, layout.strides, strict=True):
        total = combine("+", total, combine("*", combine("-", size, 1), stride))
    return total


def _numbers_of(layout: Layout, offset: Size) -> Iterator[Size]:
    count: Size = 1
    for size in layout.sizes:
        count = combine("*", count, size)
    yield from (*layout.sizes, *layout.strides, offset, count)
    if 0 not in layout.sizes:
        yield span_of(layout)


def _apart_from_one(tensors: list[Layout], known: Mapping[str, tuple[int, int]]) -> list[Json]:
    """Guards that keep all sizes of tensors that vary from being 0 or 1."""
    varying = dict.fromkeys(
        size for layout in tensors for size in layout.sizes if isinstance(size, Expression)
    )
    try:
        return [["<=", LEAST, s.json] for s in varying if bounds(s.json, known)[0] < LEAST]
    except ZeroDivisionError as error:
        raise FixedSizesError(f"it may divide by nothing: {error}") from error


class _Reader:
    """Expressions of torch as sizes of a contract graph."""

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
        """The symbols of an expression."""
        if isinstance(json, list):
            return self.names(json[1]) | self.names(json[2])
        return {json} if isinstance(json, str) else set()

    def symbols(self, arguments: Sequence[Layout | Size | None]) -> list[Symbol]:
        """Each where it is first found alone."""
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
        """Those of Dynamo that are about these symbols."""
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
            raise FixedSizesError(f"no graph can hold the guard {relation}")
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
            raise FixedSizesError(f"a size is {expression}, which no graph can compute")
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
