"""Sizes of an FX graph in terms of its symbols, as derived by Dynamo and AOTAutograd.

The metadata of every node have its sizes, strides and integers as expressions of the symbols. A
graph is recorded with integers; these are the expressions that replace them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.fx import GraphModule
from torch.utils._pytree import tree_leaves

from dl_dicp.errors import FixedSizesError, OwnCaseError
from dl_dicp.recording.memory import is_plain
from dl_dicp.recording.symbols import LEAST, Layout, Reader, Symbol
from dl_graph.expression import Expression, Json, Size, bounds, combine, evaluate

Sizes = Mapping[str, int]
"""Size of each symbol."""


@dataclass
class Shapes:
    """Sizes of a graph, and guards on them.

    :ivar arguments: layouts of tensors, integers, None for all else.
    :ivar guards: relations that hold in every run: ``[sign, a, b]`` as in a graph file.
    :ivar numbers: sizes, strides, offsets and integers of the graph that are not constants.
    :ivar nodes: these numbers by node: sizes, strides and offset of each tensor, and integers.
    """

    symbols: list[Symbol]
    arguments: list[Layout | Size | None]
    guards: list[Json]
    numbers: list[Expression]
    nodes: dict[str, list[tuple[Size, ...]]] = field(default_factory=dict)

    def sizes_of(self, arguments: Sequence[Any], device: torch.device) -> dict[str, int]:
        """Return the sizes of a call.

        :raises OwnCaseError: the layout of an argument differs from the graph's, a size is out of
            range, or a guard does not hold.
        """
        out = {}
        for symbol in self.symbols:
            value = arguments[symbol.place]
            size = value if symbol.dimension < 0 else value.shape[symbol.dimension]
            out[symbol.name] = int(size)
            if not symbol.least <= size <= symbol.most:
                raise OwnCaseError(f"{symbol.name} = {size} needs a separate program")
        for place, (wanted, given) in enumerate(zip(self.arguments, arguments, strict=True)):
            if not _lies_as(wanted, given, out, device):
                raise OwnCaseError(f"argument {place} has a different layout than traced")
        if not self.hold(out):
            raise OwnCaseError("these sizes need a separate program")
        return out

    def hold(self, sizes: Sizes) -> bool:
        """Return True if all guards hold."""
        return all(holds(guard, sizes) for guard in self.guards)


def value_of(size: Size, sizes: Sizes) -> int:
    """Evaluate a size."""
    return size if isinstance(size, int) else evaluate(size.json, sizes)


def holds(guard: Json, sizes: Sizes) -> bool:
    """Return True if a relation holds. A relation that divides by zero does not."""
    sign, left, right = guard
    try:
        a, b = evaluate(left, sizes), evaluate(right, sizes)
    except ZeroDivisionError:
        return False
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
        return not is_plain(given, device)
    integer = isinstance(given, int) and not isinstance(given, bool)
    return integer and given == value_of(wanted, sizes)


def shapes_of(
    module: GraphModule, ranges: Mapping[Any, Any] | None = None, passed: Collection[int] = ()
) -> Shapes | None:
    """Return the sizes of a graph, or None if no size varies.

    :param ranges: ranges of symbols that differ from Dynamo's.
    :param passed: indices of arguments whose sizes, or value, no operator reads.
    :raises FixedSizesError: a size depends on data, or a contract graph cannot compute it.
    """
    reader = Reader(ranges)
    placeholders = [node for node in module.graph.nodes if node.op == "placeholder"]
    given = [node.meta.get("val") for node in placeholders]
    arguments = [None if i in passed else reader.argument(x) for i, x in enumerate(given)]
    symbols = reader.symbols(arguments)
    if not symbols:
        return None
    tensors: list[Layout] = []
    numbers: dict[Expression, None] = {}
    nodes: dict[str, list[tuple[Size, ...]]] = {}
    skipped = {node for i, node in enumerate(placeholders) if i in passed}
    for node in module.graph.nodes:
        said = nodes[node.name] = []
        for leaf in () if node in skipped else tree_leaves(node.meta.get("val")):
            if isinstance(leaf, torch.Tensor) and leaf.layout == torch.strided:
                layout, offset = reader.layout(leaf), reader.size(leaf.storage_offset())
                tensors.append(layout)
                found = _numbers_of(layout, offset)
                said.append((*layout.sizes, *layout.strides, offset))
            else:
                said.append((reader.size(leaf),) if isinstance(leaf, torch.SymInt) else ())
                found = iter(said[-1])
            numbers.update({each: None for each in found if isinstance(each, Expression)})
    known = {symbol.name: (symbol.least, symbol.most) for symbol in symbols}
    for number in numbers:
        if unknown := reader.names(number.json) - known.keys():
            raise FixedSizesError(f"a size depends on data: {', '.join(sorted(unknown))}")
    guards = [*reader.guards(known), *_apart_from_one(tensors, known)]
    loose = [guard for guard in guards if not all(is_bounded(side, known) for side in guard[1:])]
    if loose and ranges is not None:
        raise FixedSizesError(f"a graph cannot check a guard that may divide by zero: {loose[0]}")
    # Dynamo itself checks these guards before it calls compiled code.
    guards = [guard for guard in guards if guard not in loose]
    return Shapes(symbols, arguments, guards, list(numbers), nodes)


def span_of(layout: Layout) -> Size:
    """Return the number of elements from the first to the last one, inclusive."""
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
    """Yield guards that exclude sizes 0 and 1 of dynamic dimensions."""
    varying = dict.fromkeys(
        size for layout in tensors for size in layout.sizes if isinstance(size, Expression)
    )
    return [["<=", LEAST, size.json] for size in varying if _may_be_less(size, known)]


def _may_be_less(size: Expression, known: Mapping[str, tuple[int, int]]) -> bool:
    return not is_bounded(size.json, known) or bounds(size.json, known)[0] < LEAST


def is_bounded(json: Json, known: Mapping[str, tuple[int, int]]) -> bool:
    """Return True if the ranges imply that an expression divides only by positive numbers."""
    try:
        bounds(json, known)
    except ZeroDivisionError:
        return False
    return True
