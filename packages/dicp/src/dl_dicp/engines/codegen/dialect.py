"""Source text shared by kernels for all kinds of devices, and the interface of dialects."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from dl_dicp.engines.codegen.kernel import Kernel
from dl_dicp.engines.codegen.loops import Pass
from dl_dicp.engines.codegen.views import TYPES

ARITHMETIC = """\
// Maximum and minimum that return NaN if `a` is NaN, or `b` if `b` is.
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
"""Part of each prelude that is valid C apart from ``math::``."""

FUNCTIONS = (
    ARITHMETIC
    + """
// Rounds to the nearest value of a 16-bit type.
template <class T>
FN float rounded(float x) {
  return static_cast<float>(T(x));
}
// Stores a value that the type can represent.
template <class T>
FN void put(T* to, float value) {
  *to = T(value);
}
FN void put(bool* to, bool value) { *to = value; }
"""
)
"""Part of each C++ prelude. The rest of the prelude has to define ``FN``, ``Half``, ``BFloat16``,
``kInfinity``, ``kNaN``, ``root``, ``gelu_by_tanh``, ``gelu_by_tanh_gradient`` and ``math::``."""


@dataclass(frozen=True)
class Function:
    """Source text and launch configuration of a kernel.

    :ivar blocks: number of blocks of a launch, each with ``threads`` threads.
    :ivar storages: storages whose addresses are its arguments, in order.
    """

    name: str
    text: str
    blocks: int
    threads: int
    storages: Sequence[int]


@dataclass(frozen=True)
class Dialect:
    """Source text for one kind of device.

    :ivar language: name of the language in the contract's kernel extension.
    :ivar file: name of the source file in the compiler's messages.
    :ivar prelude: text before all functions.
    :ivar options: function that returns the compiler's options.
    :ivar function_of: function that returns the source of a kernel under a given name.
    :ivar most_buffered: maximum size of a row's buffers in bytes.
    """

    language: str
    file: str
    prelude: str
    options: Callable[[], Sequence[str]]
    function_of: Callable[[Kernel, str], Function]
    most_buffered: int


def storages_of(kernel: Kernel) -> list[int]:
    """Return the storages whose addresses are a kernel's arguments."""
    return sorted({access.storage for access in kernel.loops.accesses})


def pointer_lines(kernel: Kernel) -> Iterator[str]:
    """Yield the declarations of the pointers to a row, for all accesses of a kernel. The address of
    storage N is named ``aN``."""
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
    :param row: variable with the number of the row.
    :param kind: type of the variable.
    """
    for place in reversed(range(len(rows))):
        if place == 0:
            yield f"const {kind} i0 = {row};"
        else:
            size = rows[place]
            yield f"const {kind} i{place} = {row} % {size}, q{place} = {row} / {size};"
            row = f"q{place}"
