"""Tensors of a graph under construction."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from diopi_proto.dtypes import Dtype

from .errors import GraphError
from .expression import Size, as_json, combine


class Owner(Protocol):
    """Entry to which values are added."""

    def _add_value(self, value: Value) -> int:
        """Add a value; return its index."""


class Shared:
    """Constant or state of a graph, available in any entry by :meth:`EntryBuilder.use`."""

    def __init__(self, kind: str, name: str, dtype: Dtype, shape: tuple[int, ...]) -> None:
        self.kind = kind
        self.name = name
        self.dtype = dtype
        self.shape = shape


class Value:
    """Tensor of an entry: a view of one of its storages.

    :ivar shape: sizes, which may depend on symbols.
    :ivar strides: strides in elements.
    :ivar offset: offset in elements from the start of the storage.
    """

    def __init__(
        self,
        entry: Owner,
        storage: int,
        dtype: Dtype,
        shape: Sequence[Size],
        strides: Sequence[Size],
        offset: Size,
        name: str,
    ) -> None:
        self.entry = entry
        self.storage = storage
        self.dtype = dtype
        self.shape = tuple(shape)
        self.strides = tuple(strides)
        self.offset = offset
        self.name = name
        self.index = entry._add_value(self)

    def as_strided(
        self, shape: Sequence[Size], strides: Sequence[Size], offset: Size | None = None
    ) -> Value:
        """Return another view of the same storage; offset None keeps the first element."""
        first = self.offset if offset is None else offset
        return Value(self.entry, self.storage, self.dtype, shape, strides, first, "")

    def permute(self, *dims: int) -> Value:
        """Return the same elements with their dimensions in another order."""
        return self.as_strided([self.shape[d] for d in dims], [self.strides[d] for d in dims])

    def transpose(self, a: int, b: int) -> Value:
        """Return the same elements with two dimensions exchanged."""
        dims = list(range(len(self.shape)))
        dims[a], dims[b] = dims[b], dims[a]
        return self.permute(*dims)

    def narrow(self, dim: int, start: Size, length: Size) -> Value:
        """Return ``length`` slices of a dimension, from ``start`` on."""
        shape = list(self.shape)
        shape[dim] = length
        offset = combine("+", self.offset, combine("*", start, self.strides[dim]))
        return self.as_strided(shape, self.strides, offset)

    def unsqueeze(self, dim: int) -> Value:
        """Return a view with an additional dimension of size 1 before ``dim``."""
        shape, strides = list(self.shape), list(self.strides)
        shape.insert(dim, 1)
        strides.insert(dim, 1)
        return self.as_strided(shape, strides)

    def expand(self, *shape: Size) -> Value:
        """Return a view with dimensions of size 1 repeated, and new ones before them."""
        new = len(shape) - len(self.shape)
        strides: list[Size] = [0] * new
        strides += [
            0 if as_json(old) == 1 and as_json(size) != 1 else stride
            for old, size, stride in zip(self.shape, shape[new:], self.strides, strict=True)
        ]
        return self.as_strided(shape, strides)

    def view(self, *shape: Size) -> Value:
        """Return the same elements in another shape, row-major.

        :raises GraphError: this value is not contiguous.
        """
        wanted = [as_json(s) for s in contiguous_strides(self.shape)]
        given = [as_json(s) for s in self.strides]
        ones = [as_json(size) == 1 for size in self.shape]
        if any(a != b and not one for a, b, one in zip(wanted, given, ones, strict=True)):
            raise GraphError(f"value {self.name} is not contiguous; use as_strided, or copy it")
        return self.as_strided(shape, contiguous_strides(shape))

    def __repr__(self) -> str:
        return f"Value({self.name}, {self.dtype}, shape={list(self.shape)})"


def contiguous_strides(shape: Sequence[Size]) -> list[Size]:
    """Return the strides of a contiguous tensor, in elements."""
    strides: list[Size] = []
    step: Size = 1
    for size in reversed(shape):
        strides.insert(0, step)
        step = combine("*", step, size)
    return strides
