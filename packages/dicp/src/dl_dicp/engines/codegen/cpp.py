"""C++ code of kernels for the CPU, in the convention of dl-vendor-cpu's kernel extension."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from dl_dicp.engines.codegen.dialect import (
    FUNCTIONS,
    Dialect,
    Function,
    index_lines,
    pointer_lines,
    start_lines,
    storages_of,
)
from dl_dicp.engines.codegen.kernel import Kernel
from dl_dicp.engines.codegen.loops import Pass

CHUNK = 4096
"""Number of elements that a thread processes at a time, in long rows without reductions."""
GRAIN = 1 << 14
"""Minimum number of elements of a block if the calls are cheap."""
MOST_BLOCKS = 64
MOST_BUFFERED = 1 << 17
"""Maximum bytes of a row's buffers, which share the cache with the row's inputs."""

PRELUDE = (
    """\
#include "dl_cpu_kernel.h"
#include "dl_kernels/base/float16.h"
#include "dl_kernels/elementwise/gelu.h"
#include "dl_kernels/math/vector_gelu.h"
#include "dl_kernels/math/vector_math.h"

#define FN inline

namespace {

using namespace dl::kernels;

constexpr float kInfinity = __builtin_inff(), kNaN = __builtin_nanf("");

FN float root(float x) { return __builtin_sqrtf(x); }
FN double root(double x) { return __builtin_sqrt(x); }
FN float gelu_by_tanh(float x) { return GeluTanhOp<float>()(x); }
FN float gelu_by_tanh_gradient(float grad, float x) {
  return GeluTanhBackwardOp<float>()(grad, x);
}
"""
    + FUNCTIONS
    + """
// g++ vectorizes selections of 32 bits, but not those of a conversion to 16 bits.
template <>
FN float rounded<Half>(float x) {
  const uint32_t whole = bit_cast<uint32_t>(x), magnitude = whole & 0x7fffffffu;
  const float size = bit_cast<float>(magnitude);
  // Adding 0.5 rounds subnormal float16 numbers to a multiple of their ULP, 2^-24.
  const uint32_t small = bit_cast<uint32_t>(size + 0.5f - 0.5f);
  const uint32_t normal = (magnitude + 0x0fffu + ((magnitude >> 13) & 1u)) & ~0x1fffu;
  uint32_t made = magnitude < 0x38800000u ? small : normal;
  made = magnitude >= 0x477ff000u ? 0x7f800000u : made;  // 65520 and above are infinity
  made = magnitude > 0x7f800000u ? 0x7fc00000u : made;
  return bit_cast<float>(made | (whole & 0x80000000u));
}
FN void put(Half* to, float value) {
  const uint32_t whole = bit_cast<uint32_t>(value), magnitude = whole & 0x7fffffffu;
  // Adding 2^-14 aligns the digits of a subnormal number with those of a normal one.
  const float size = bit_cast<float>(magnitude);
  const uint32_t digits = bit_cast<uint32_t>(magnitude < 0x38800000u ? size + 0x1p-14f : size);
  uint32_t bias = magnitude < 0x38800000u ? 0x38800000u : 0x38000000u;
  bias = magnitude < 0x7f800000u ? bias : 0;  // infinities and NaN keep all exponent bits
  to->bits = static_cast<uint16_t>((((digits - bias) >> 13) & 0x7fffu) | (whole >> 16 & 0x8000u));
}

}  // namespace
"""
)


def function_of(kernel: Kernel, name: str) -> Function:
    """Return the source text of a kernel's function."""
    storages = storages_of(kernel)
    chunks = _chunks(kernel)
    units = prod(kernel.rows) * chunks
    elements = prod(kernel.rows) * kernel.elements
    blocks = max(1, min(MOST_BLOCKS, units, elements // GRAIN))
    lines = "\n".join(_lines(kernel, name, storages, units, chunks))
    return Function(name, lines + "\n", blocks, 1, storages)


def _chunks(kernel: Kernel) -> int:
    if not kernel.loops.are_of_elements:
        return 1
    return -(-kernel.loops.passes[0].length // CHUNK)


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
    yield from (f"    {line}" for line in pointer_lines(kernel))
    yield from (f"    {line}" for line in (*loops.before, *loops.stores))
    for each in loops.passes:
        yield from (f"    {line}" for line in _pass_lines(each, chunks))
    yield "  }"
    yield "}"


def _place_lines(kernel: Kernel, chunks: int) -> Iterator[str]:
    """Yield the indices of a row and the range of elements that belongs to this unit."""
    if chunks > 1:
        length = kernel.loops.passes[0].length
        yield f"const int64_t row = unit / {chunks}, low = unit % {chunks} * {CHUNK};"
        yield f"const int64_t high = low + {CHUNK} < {length} ? low + {CHUNK} : {length};"
    yield from index_lines(kernel.rows, "row" if chunks > 1 else "unit", "int64_t")


def _pass_lines(each: Pass, chunks: int) -> Iterator[str]:
    yield from start_lines(each)
    low, high = ("low", "high") if chunks > 1 else ("0", str(each.length))
    clauses = "".join(f" reduction(+:{total})" for total in each.sums)
    clauses += "".join(f" reduction(max:{largest})" for largest in each.maxima)
    yield f"#pragma omp simd{clauses}"
    yield f"for (int64_t j = {low}; j < {high}; ++j) {{"
    yield from (f"  {line}" for line in each.lines)
    yield "}"
    yield from (*each.after, *each.stores)


def _options() -> list[str]:
    from dl_kernels import include_dir

    return [
        # Operators round their results: a product is rounded before it is added (no contraction to
        # FMA).
        "-ffp-contract=off",
        "-fno-math-errno",
        "-fno-trapping-math",
        "-fopenmp-simd",
        f"-I{include_dir()}",
    ]


CPP = Dialect("c++", "fused.cpp", PRELUDE, _options, function_of, MOST_BUFFERED)
