"""Views of a call's tensors along the rows of its loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from diopi_proto.dtypes import DTYPES

FLOATS = {"float32": "float", "float16": "Half", "bfloat16": "BFloat16"}
"""C++ types of dtypes that compute in float."""
HALVES = frozenset({"float16", "bfloat16"})
TYPES = {**FLOATS, "bool": "bool"}
SIZES = {"float32": 4, "float16": 2, "bfloat16": 2, "bool": 1}
"""Bytes."""


@dataclass(frozen=True)
class Access:
    """Tensor as read or written in a loop: element ``j`` of the row with indices ``i`` is at
    ``offset + sum(i * outer) + j * inner``.

    :ivar storage: of the graph's entry.
    :ivar outer: elements from one index to the next, for each dimension of the rows.
    :ivar inner: elements from one of a row to the next; 0: the row has one value.
    :ivar length: of the row; 1 where it has one value.
    """

    storage: int
    dtype: str
    offset: int
    outer: tuple[int, ...]
    inner: int
    length: int

    @property
    def is_scalar(self) -> bool:
        """Return True if all elements of a row are the same."""
        return self.inner == 0


@dataclass(frozen=True)
class Space:
    """Iteration space of a call.

    :ivar order: the dimensions of its result, the one that lies closest in memory last.
    :ivar rows: sizes of all but the last in this order.
    :ivar length: of a row.
    """

    order: tuple[int, ...]
    rows: tuple[int, ...]
    length: int

    @property
    def elements(self) -> int:
        """Number of elements of the result."""
        return prod(self.rows) * self.length


def space_of(value: Mapping[str, Any], *, ordered: bool) -> Space:
    """Return the iteration space of a call with this result.

    :param ordered: whether rows are along the last dimension, whatever its stride.
    """
    shape, strides = value["shape"], value["strides"]
    order = list(range(len(shape)))
    if not ordered:
        large = [d for d in order if shape[d] > 1]
        for place, dim in zip(large, sorted(large, key=lambda d: -strides[d]), strict=True):
            order[place] = dim
    sizes = [shape[d] for d in order]
    return Space(tuple(order), tuple(sizes[:-1]), sizes[-1] if sizes else 1)


def access_of(value: Mapping[str, Any], space: Space) -> Access | None:
    """How a tensor lies along the rows of a space whose result it broadcasts to; None: it has more
    dimensions, or steps through memory within a row."""
    missing = len(space.order) - len(value["shape"])
    if missing < 0:
        return None
    strides = [0] * missing + [
        0 if size == 1 else stride
        for size, stride in zip(value["shape"], value["strides"], strict=True)
    ]
    ordered = [strides[d] for d in space.order]
    inner = ordered[-1] if ordered and space.length > 1 else 0
    if inner not in (0, 1):
        return None
    length = space.length if inner else 1
    outer = tuple(ordered[:-1])
    return Access(value["storage"], value["dtype"], value["offset"], outer, inner, length)


def with_row_values(value: Mapping[str, Any], rows: Sequence[int]) -> Mapping[str, Any] | None:
    """A tensor with one value for each row, as one with a last dimension of 1; None: it has none.

    Results of sums along rows have that dimension or not.
    """
    shape = list(value["shape"])
    if shape == [*rows, 1]:
        return value
    if shape == list(rows):
        return {**value, "shape": [*shape, 1], "strides": [*value["strides"], 1]}
    return None


def retyped(
    target: Mapping[str, Any], source: Mapping[str, Any], values: Sequence[Mapping[str, Any]]
) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """The tensors of a copy as other calls see them: dl-core copies memory without gaps as a row of
    integers."""
    if target["dtype"] in TYPES or not _is_row(target) or not _is_row(source):
        return target, source
    item = DTYPES[target["dtype"]].itemsize
    size = target["shape"][0] * item
    for one, other in ((target, source), (source, target)):
        for value in values:
            # A float16 NaN that is converted to float and back may change its bits.
            if value["storage"] != one["storage"] or value["dtype"] not in ("float32", "bool"):
                continue
            step = SIZES[value["dtype"]]
            starts = value["offset"] * step, one["offset"] * item
            if prod(value["shape"]) * step != size or starts[0] != starts[1]:
                continue
            if not _has_no_gap(value):
                continue
            moved = {**value, "storage": other["storage"], "offset": other["offset"] * item // step}
            return (value, moved) if one is target else (moved, value)
    if item == SIZES["float32"]:
        return {**target, "dtype": "float32"}, {**source, "dtype": "float32"}
    return target, source


def _is_row(value: Mapping[str, Any]) -> bool:
    return bool(value["strides"] == [1])


def _has_no_gap(value: Mapping[str, Any]) -> bool:
    step = 1
    for stride, size in sorted(zip(value["strides"], value["shape"], strict=True)):
        if size == 1:
            continue
        if stride != step:
            return False
        step *= size
    return True
