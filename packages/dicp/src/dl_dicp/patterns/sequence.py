"""Sequences of calls with the writers and readers of their tensors.

In a program for many sizes, the sizes of tensors may be expressions. A condition of a pattern must
hold for all sizes, not only for the recorded ones: :func:`same_sizes` and similar functions return
True only if equality is proven, and :meth:`Calls.at_least` adds a condition to the program.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import Any

from dl_dicp.program.document import FIXED, Scope
from dl_dicp.recording.calls import Call
from dl_dicp.recording.memory import Block, Ref
from dl_dicp.sizes.proof import same
from dl_graph.expression import Expression, Json, Size, bounds, evaluate


class VariesError(ValueError):
    """A scalar that a pattern needs depends on sizes that vary."""


class Calls:
    """Consecutive calls.

    :param outside: blocks that are visible outside: arguments, results, arguments of host calls.
    :param scope: the sizes for which the calls are valid.
    :param seen: the recorded sizes.
    :ivar assumed: relations, in the notation of a graph file, that :meth:`at_least` has accepted
        although they are not proven for all sizes of the scope.
    """

    def __init__(
        self,
        calls: Sequence[Call],
        outside: set[Block],
        scope: Scope = FIXED,
        seen: Sequence[Mapping[str, int]] = (),
    ) -> None:
        self._scope = scope
        self._seen = seen
        self.assumed: list[Json] = []
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
        """Iterate over the uses of a block: index of the call, tensor, True if it is written."""
        return iter(self._uses.get(block, ()))

    def writer(self, ref: Any, before: int, *operators: str) -> int | None:
        """Return the index of the last call before ``before`` that wrote a whole tensor. Return
        None if there is no such call, or if its operator is not in ``operators``."""
        if not isinstance(ref, Ref):
            return None
        writes = [(at, x) for at, x, written in self.uses(ref.block) if written and at < before]
        if not writes or not alike(writes[-1][1], ref):
            return None
        place = writes[-1][0]
        return place if self._calls[place].operator in operators else None

    def is_private(self, block: Block, members: frozenset[int]) -> bool:
        """Return True if only these calls use a block."""
        return block not in self._outside and all(at in members for at, _, _ in self.uses(block))

    def at_least(self, size: Size, least: int) -> bool:
        """Return True if a size is at least ``least``.

        If this is true of the recorded sizes only, it becomes a condition: a program that uses the
        match does not serve other sizes.
        """
        if isinstance(size, int):
            return size >= least
        if bounds(size.json, self._scope.ranges)[0] >= least:
            return True
        if not self._seen or any(evaluate(size.json, sizes) < least for sizes in self._seen):
            return False
        self.assumed.append(["<=", least, size.json])
        return True


def same_sizes(one: Sequence[Size], other: Sequence[Size]) -> bool:
    """Return True if two shapes are equal for all values of their symbols."""
    return len(one) == len(other) and all(map(same, one, other))


def alike(one: Ref, other: Ref) -> bool:
    """Return True if two tensors have the same elements in the same order, in any shape."""
    if one.block is not other.block or one.dtype != other.dtype:
        return False
    if not same(one.offset, other.offset):
        return False
    if same_sizes(one.shape, other.shape) and same_sizes(one.strides, other.strides):
        return True
    as_many = same(prod(one.shape), prod(other.shape))
    return as_many and is_contiguous(one) and is_contiguous(other)


def is_contiguous(ref: Ref) -> bool:
    """Return True if a tensor is contiguous in row-major order."""
    step = 1
    for size, stride in zip(reversed(ref.shape), reversed(ref.strides), strict=True):
        if size != 1 and not same(stride, step):
            return False
        step *= size
    return True


def reshaped(ref: Ref, shape: tuple[int, ...]) -> Ref:
    """Return a contiguous tensor in another shape with the same number of elements."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= size
    return Ref(ref.block, ref.dtype, shape, tuple(reversed(strides)), ref.offset)


def number(scalar: Any) -> float | int:
    """Return the value of a ``diopiScalar_t`` or of a ``double``.

    :raises VariesError: it depends on sizes.
    """
    value = scalar["value"] if isinstance(scalar, dict) else scalar
    if isinstance(value, list | Expression):
        raise VariesError("a scalar argument depends on sizes that vary")
    return float.fromhex(value) if isinstance(value, str) else int(value)


def is_one(scalar: Any) -> bool:
    """Return True if a scalar is 1."""
    return number(scalar) == 1


def scalar(value: float, dtype: str = "float64") -> dict[str, Any]:
    """Return a ``diopiScalar_t``."""
    return {"dtype": dtype, "value": float(value).hex()}
