"""Source text shared by kernels for all kinds of devices, and the interface of dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dl_dicp.engines.codegen.kernel import Kernel
from dl_dicp.engines.codegen.loops import Pass
from dl_dicp.engines.codegen.views import TYPES

ARITHMETIC = """\
// NaN of either stays.
FN float greater(float a, float b) { return a > b || a != a ? a : b; }
FN float lesser(float a, float b) { return a < b || a != a ? a : b; }
FN float clamped(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
FN float silu_gradient(float grad, float x) {
  const float share = math::sigmoid(x);
  return grad * share * (1.0f + x * (1.0f - share));
}
"""
"""Part of each prelude that needs no C++ but ``math::``."""

FUNCTIONS = (
    ARITHMETIC
    + """
// To the nearest value of a type of 16 bits.
template <class T>
FN float rounded(float x) {
  return static_cast<float>(T(x));
}
// A value that the type has.
template <class T>
FN void put(T* to, float value) {
  *to = T(value);
}
FN void put(bool* to, bool value) { *to = value; }
"""
)
"""Part of each prelude, which defines ``FN``, ``Half``, ``BFloat16``, ``kInfinity``, ``kNaN``,
``root``, ``gelu_by_tanh``, ``gelu_by_tanh_gradient`` and functions in ``math::`` besides."""


@dataclass(frozen=True)
class Function:
    """A kernel's function.

    :ivar blocks: that it runs in, each of so many ``threads``.
    :ivar storages: whose addresses it gets, in their order.
    """

    name: str
    text: str
    blocks: int
    threads: int
    storages: Sequence[int]


@dataclass(frozen=True)
class Dialect:
    """Source text for one kind of device.

    :ivar language: as the contract's kernel extension names it.
    :ivar file: the name of the source in the compiler's messages.
    :ivar prelude: what stands before all functions.
    :ivar options: of the compiler.
    :ivar function_of: the function of a kernel under a name.
    :ivar most_buffered: bytes that the buffers of a row may take.
    """

    language: str
    file: str
    prelude: str
    options: Callable[[], Sequence[str]]
    function_of: Callable[[Kernel, str], Function]
    most_buffered: int


def storages_of(kernel: Kernel) -> list[int]:
    """Return the tensors whose addresses a kernel gets."""
    return sorted({access.storage for access in kernel.loops.accesses})


def pointer_lines(kernel: Kernel) -> Iterator[str]:
    """The pointers to a row of all that a kernel reads and writes, of addresses named ``a`` with
    the number of their storage."""
    for access, pointer in kernel.loops.accesses.items():
        kind = TYPES[access.dtype]
        steps = "".join(f" + i{d} * {step}ll" for d, step in enumerate(access.outer) if step)
        start = f"reinterpret_cast<{kind}*>(a{access.storage})"
        yield f"{kind}* const {pointer} = {start} + {access.offset}ll{steps};"


def start_lines(each: Pass) -> Iterator[str]:
    """Yield the declarations of the sums and maxima of a pass, before its loop."""
    for total in each.sums:
        yield f"double {total} = 0;"
    for largest in each.maxima:
        yield f"float {largest} = -kInfinity;"


def index_lines(rows: Sequence[int], row: str, kind: str) -> Iterator[str]:
    """Return code that computes the indices ``i0``, ``i1``, … of a row from its number.

    :param rows: sizes of the dimensions.
    :param row: the name of the number.
    :param kind: its type.
    """
    for place in reversed(range(len(rows))):
        if place == 0:
            yield f"const {kind} i0 = {row};"
        else:
            size = rows[place]
            yield f"const {kind} i{place} = {row} % {size}, q{place} = {row} / {size};"
            row = f"q{place}"
