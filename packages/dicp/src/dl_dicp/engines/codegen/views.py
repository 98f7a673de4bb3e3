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

    :ivar storage: index of the storage in the graph's entry.
    :ivar outer: stride in elements of each dimension of the rows.
    :ivar inner: stride in elements within a row; 0 if the row has one value.
    :ivar length: number of elements of the row; 1 if it has one value.
    """

    storage: int
    dtype: str
    offset: int
    outer: tuple[int, ...]
    inner: int
    length: int

    @property
    def is_scalar(self) -> bool:
        """Return True if the row has one value."""
        return self.inner == 0


@dataclass(frozen=True)
class Space:
    """Iteration space of a call.

    :ivar order: the dimensions of the result; the one with the smallest stride is last.
    :ivar rows: sizes of all dimensions but the last in this order.
    :ivar length: number of elements of a row.
    """

    order: tuple[int, ...]
    rows: tuple[int, ...]
    length: int

    @property
    def elements(self) -> int:
        """Return the number of elements of the result."""
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
    """Return the access to a tensor along the rows of a space to which it broadcasts. Return None
    if it has more dimensions, or if its elements are not contiguous within a row."""
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
    """Return a tensor of per-row values with a last dimension of 1; None if its shape is different.

    Results of reductions along rows may have this dimension or not.
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
    """Return the tensors of a copy with the dtype and shape that other calls use: dl-core copies
    contiguous memory as a row of integers."""
    if target["dtype"] in TYPES or not _is_row(target) or not _is_row(source):
        return target, source
    item = DTYPES[target["dtype"]].itemsize
    size = target["shape"][0] * item
    for one, other in ((target, source), (source, target)):
        for value in values:
            # Converting a float16 NaN to float and back may change its bits.
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
