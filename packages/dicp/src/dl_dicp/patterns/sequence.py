"""Calls with who writes and who reads their tensors."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod
from typing import Any

from dl_dicp.calls import Call
from dl_dicp.memory import Block, Ref


class Calls:
    """Consecutive calls.

    :param outside: blocks that somebody else sees: arguments, results, what host calls take.
    """

    def __init__(self, calls: Sequence[Call], outside: set[Block]) -> None:
        self._calls = list(calls)
        self._outside = outside
        self._uses: dict[Block, list[tuple[int, Ref, bool]]] = {}
        for place, call in enumerate(self._calls):
            for ref, writes in call.uses():
                self._uses.setdefault(ref.block, []).append((place, ref, writes))

    def __len__(self) -> int:
        return len(self._calls)

    def __getitem__(self, place: int) -> Call:
        return self._calls[place]

    def uses(self, block: Block) -> Iterator[tuple[int, Ref, bool]]:
        """Who uses a block: the place, the tensor, and whether it is written."""
        return iter(self._uses.get(block, ()))

    def writer(self, ref: Any, before: int, *operators: str) -> int | None:
        """The place of the call that wrote a tensor as a whole, the last one before a place; None
        where there is none, or it is none of these operators."""
        if not isinstance(ref, Ref):
            return None
        writes = [(at, x) for at, x, written in self.uses(ref.block) if written and at < before]
        if not writes or not alike(writes[-1][1], ref):
            return None
        place = writes[-1][0]
        return place if self._calls[place].operator in operators else None

    def is_private(self, block: Block, members: frozenset[int]) -> bool:
        """Whether nobody else uses a block."""
        return block not in self._outside and all(at in members for at, _, _ in self.uses(block))


def alike(one: Ref, other: Ref) -> bool:
    """Whether two tensors are the same elements in the same order, in whatever shape."""
    if one.block is not other.block or one.dtype != other.dtype or one.offset != other.offset:
        return False
    if one.shape == other.shape and one.strides == other.strides:
        return True
    same = prod(one.shape) == prod(other.shape)
    return same and is_contiguous(one) and is_contiguous(other)


def is_contiguous(ref: Ref) -> bool:
    """Whether the elements of a tensor lie one behind the other, the last dimension first."""
    step = 1
    for size, stride in zip(reversed(ref.shape), reversed(ref.strides), strict=True):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def reshaped(ref: Ref, shape: tuple[int, ...]) -> Ref:
    """A contiguous tensor in another shape of as many elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return Ref(ref.block, ref.dtype, shape, tuple(reversed(strides)), ref.offset)


def number(scalar: Any) -> float | int:
    """The value of a ``diopiScalar_t`` or of a ``double``."""
    value = scalar["value"] if isinstance(scalar, dict) else scalar
    return float.fromhex(value) if isinstance(value, str) else int(value)


def is_one(scalar: Any) -> bool:
    """Whether a scalar is 1."""
    return number(scalar) == 1


def scalar(value: float, dtype: str = "float64") -> dict[str, Any]:
    """A ``diopiScalar_t``."""
    return {"dtype": dtype, "value": float(value).hex()}
