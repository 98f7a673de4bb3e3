"""The C++ of kernels, in the convention of dl-vendor-cpu's kernel extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from .kernel import Kernel
from .loops import Pass
from .views import TYPES, Access

CHUNK = 4096
"""Elements of long rows without sums that a thread takes at a time."""
GRAIN = 1 << 14
"""Elements that a block has at least, of calls that are light."""
MOST_BLOCKS = 64

PRELUDE = """\
#include "dl_cpu_kernel.h"
#include "dl_kernels/base/float16.h"
#include "dl_kernels/elementwise/gelu.h"
#include "dl_kernels/math/vector_gelu.h"
#include "dl_kernels/math/vector_math.h"

namespace {

using namespace dl::kernels;

// NaN of either stays.
inline float greater(float a, float b) { return a > b || a != a ? a : b; }
inline float lesser(float a, float b) { return a < b || a != a ? a : b; }
inline float clamped(float x, float low, float high) {
  x = x < low ? low : x;
  return x > high ? high : x;
}
inline float silu_gradient(float grad, float x) {
  const float share = math::sigmoid(x);
  return grad * share * (1.0f + x * (1.0f - share));
}

inline void put(float* to, float value) { *to = value; }
inline void put(bool* to, bool value) { *to = value; }
inline void put(Half* to, float value) { *to = Half(value); }
inline void put(BFloat16* to, float value) { *to = BFloat16(value); }

}  // namespace
"""


@dataclass(frozen=True)
class Function:
    """A kernel's function.

    :ivar storages: whose addresses it gets, in their order.
    """

    name: str
    text: str
    blocks: int
    storages: Sequence[int]


def function_of(kernel: Kernel, name: str) -> Function:
    """The function of a kernel."""
    storages = sorted({access.storage for access in kernel.loops.accesses})
    chunks = _chunks(kernel)
    units = prod(kernel.rows) * chunks
    elements = prod(kernel.rows) * kernel.elements
    blocks = max(1, min(MOST_BLOCKS, units, elements // GRAIN))
    lines = "\n".join(_lines(kernel, name, storages, units, chunks))
    return Function(name, lines + "\n", blocks, storages)


def _chunks(kernel: Kernel) -> int:
    passes = kernel.loops.passes
    if len(passes) != 1 or passes[0].sums or passes[0].maxima or kernel.loops.buffers:
        return 1
    return -(-passes[0].length // CHUNK)


def _lines(
    kernel: Kernel, name: str, storages: Sequence[int], units: int, chunks: int
) -> Iterator[str]:
    loops = kernel.loops
    yield f"DL_CPU_KERNEL({name}) {{"
    for place, storage in enumerate(storages):
        yield f"  char* const a{storage} = dl_cpu_argument<char*>(arguments, {place});"
    yield f"  const int64_t index = block->index[0], blocks = block->grid[0], units = {units};"
    for buffer, (kind, length) in loops.buffers.items():
        yield f"  alignas(64) {kind} {buffer}[{length}];"
    yield "  for (int64_t unit = units * index / blocks, end = units * (index + 1) / blocks;"
    yield "       unit < end; ++unit) {"
    yield from (f"    {line}" for line in _place_lines(kernel, chunks))
    for access, pointer in loops.accesses.items():
        yield f"    {_pointer_line(access, pointer)}"
    yield from (f"    {line}" for line in loops.before)
    for each in loops.passes:
        yield from (f"    {line}" for line in _pass_lines(each, chunks))
    yield "  }"
    yield "}"


def _place_lines(kernel: Kernel, chunks: int) -> Iterator[str]:
    """The indices of a row, and the part of it that is this unit's."""
    if chunks > 1:
        length = kernel.loops.passes[0].length
        yield f"const int64_t row = unit / {chunks}, low = unit % {chunks} * {CHUNK};"
        yield f"const int64_t high = low + {CHUNK} < {length} ? low + {CHUNK} : {length};"
    rest = "row" if chunks > 1 else "unit"
    for place in reversed(range(len(kernel.rows))):
        if place == 0:
            yield f"const int64_t i0 = {rest};"
        else:
            yield (
                f"const int64_t i{place} = {rest} % {kernel.rows[place]}, "
                f"q{place} = {rest} / {kernel.rows[place]};"
            )
            rest = f"q{place}"


def _pointer_line(access: Access, pointer: str) -> str:
    kind = TYPES[access.dtype]
    steps = "".join(f" + i{d} * {step}" for d, step in enumerate(access.outer) if step)
    return (
        f"{kind}* const {pointer} = reinterpret_cast<{kind}*>(a{access.storage}) + "
        f"{access.offset}{steps};"
    )


def _pass_lines(each: Pass, chunks: int) -> Iterator[str]:
    for total in each.sums:
        yield f"double {total} = 0;"
    for largest in each.maxima:
        yield f"float {largest} = -__builtin_inff();"
    low, high = ("low", "high") if chunks > 1 else ("0", str(each.length))
    clauses = "".join(f" reduction(+:{total})" for total in each.sums)
    clauses += "".join(f" reduction(max:{largest})" for largest in each.maxima)
    yield f"#pragma omp simd{clauses}"
    yield f"for (int64_t j = {low}; j < {high}; ++j) {{"
    yield from (f"  {line}" for line in each.lines)
    yield "}"
    yield from each.after
