"""The CUDA of kernels for GPUs, compiled at run time and without headers.

Elements that do not need each other have a thread each. Rows with sums have a block each, whose
threads take every so many elements: in all passes the same ones, so that only sums, and buffers
that another thread reads, make them wait for each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from .dialect import (
    FUNCTIONS,
    Dialect,
    Function,
    index_lines,
    pointer_lines,
    start_lines,
    storages_of,
)
from .kernel import Kernel
from .loops import Pass

THREADS = 256
"""Of a block, at most."""
WARP = 32
MOST_BLOCKS = 1 << 16
MOST_BUFFERED = 40 << 10
"""Bytes of shared memory for a row, of the 48 KiB that every card has."""

PRELUDE = (
    """\
#define FN __device__ inline

typedef long long int64_t;

#define kInfinity __int_as_float(0x7f800000)
#define kNaN __int_as_float(0x7fc00000)

struct Half {
  unsigned short bits;
  FN explicit Half(float x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  FN explicit operator float() const {
    float x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};
struct BFloat16 {
  unsigned short bits;
  FN explicit BFloat16(float x) {
    const unsigned whole = __float_as_uint(x);
    bits = x != x ? 0x7fc0 : (whole + 0x7fff + ((whole >> 16) & 1)) >> 16;
  }
  FN explicit operator float() const { return __uint_as_float(unsigned(bits) << 16); }
};

FN float root(float x) { return sqrtf(x); }
FN double root(double x) { return sqrt(x); }

namespace math {
FN float magnitude(float x) { return fabsf(x); }
FN float exp(float x) { return expf(x); }
FN float expm1(float x) { return expm1f(x); }
FN float log(float x) { return logf(x); }
FN float log1p(float x) { return log1pf(x); }
FN float log2(float x) { return log2f(x); }
FN float log10(float x) { return log10f(x); }
FN float pow(float x, float y) { return powf(x, y); }
FN float tanh(float x) { return tanhf(x); }
FN float erf(float x) { return erff(x); }
FN float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }
// Beyond 13 the distribution function is 0 or 1, which infinities would make NaN.
FN float gelu(float x) { return x < -13.0f ? -0.0f : x * normcdff(x); }
FN float gelu_derivative(float x) {
  const float share = normcdff(x);
  return fabsf(x) > 13.0f ? share : share + x * expf(-0.5f * x * x) * 0.39894228040143267794f;
}
}  // namespace math

FN float gelu_inner(float x) { return 0.79788456080286535588f * (x + 0.044715f * x * x * x); }
FN float gelu_by_tanh(float x) { return 0.5f * x * (1.0f + tanhf(gelu_inner(x))); }
FN float gelu_by_tanh_gradient(float grad, float x) {
  const float t = tanhf(gelu_inner(x));
  const float slope = 0.79788456080286535588f * (1.0f + 3 * 0.044715f * x * x);
  return grad * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * slope);
}
"""
    + FUNCTIONS
    + """\

FN double joined(double a, double b) { return a + b; }
FN float joined(float a, float b) { return a > b ? a : b; }

// What the threads of a block have, joined: the same for all of them.
template <class T>
FN T of_block(T x, T* of_warps) {
  for (int step = 16; step > 0; step /= 2)
    x = joined(x, __shfl_xor_sync(0xffffffffu, x, step));
  const int warps = blockDim.x / 32;
  if (warps > 1) {
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = x;
    __syncthreads();
    x = of_warps[0];
    for (int warp = 1; warp < warps; ++warp) x = joined(x, of_warps[warp]);
  }
  __syncthreads();
  return x;
}
"""
)


def function_of(kernel: Kernel, name: str) -> Function:
    """The function of a kernel."""
    storages = storages_of(kernel)
    by_rows = _needs_rows(kernel)
    rows = prod(kernel.rows)
    if by_rows:
        threads = next(t for t in (32, 64, 128, THREADS) if t >= min(kernel.elements, THREADS))
        blocks = rows
    else:
        threads = THREADS
        blocks = -(-rows * kernel.elements // threads)
    parameters = ", ".join(f"char* a{storage}" for storage in storages)
    head = f'extern "C" __global__ void __launch_bounds__({threads}) {name}({parameters}) {{'
    body = _by_rows(kernel, rows) if by_rows else _by_elements(kernel, rows)
    text = "\n".join([head, *(f"  {line}" for line in body), "}", ""])
    return Function(name, text, min(blocks, MOST_BLOCKS), threads, storages)


def _needs_rows(kernel: Kernel) -> bool:
    """Whether threads of a row need each other: else each element is computed on its own."""
    loops = kernel.loops
    if not loops.passes:
        return False
    return not loops.are_of_elements or bool(loops.stores or loops.passes[0].stores)


def _by_elements(kernel: Kernel, rows: int) -> Iterator[str]:
    """A thread for each element; of rows that are one value each, for each row."""
    loops, count = kernel.loops, rows * kernel.elements
    kind = _index_type(count)
    yield f"const {kind} step = {kind}(gridDim.x) * blockDim.x;"
    yield f"const {kind} start = {kind}(blockIdx.x) * blockDim.x + threadIdx.x;"
    yield f"for ({kind} at = start; at < {count}; at += step) {{"
    if loops.passes:
        yield f"  const {kind} j = at % {kernel.elements};"
    if kernel.rows:
        yield f"  const {kind} row = at / {kernel.elements};"
    yield from (f"  {line}" for line in index_lines(kernel.rows, "row", kind))
    yield from (f"  {line}" for line in pointer_lines(kernel))
    yield from (f"  {line}" for line in loops.before)
    if loops.passes:
        yield from (f"  {line}" for line in loops.passes[0].lines)
    yield from (f"  {line}" for line in loops.stores)
    yield "}"


def _by_rows(kernel: Kernel, rows: int) -> Iterator[str]:
    """A block for each row."""
    loops = kernel.loops
    kind = _index_type(rows)
    if any(each.sums for each in loops.passes):
        yield f"__shared__ double sums[{THREADS // WARP}];"
    if any(each.maxima for each in loops.passes):
        yield f"__shared__ float maxima[{THREADS // WARP}];"
    for buffer, (of, length) in loops.buffers.items():
        yield f"__shared__ {of} {buffer}[{length}];"
    yield f"for ({kind} row = blockIdx.x; row < {rows}; row += gridDim.x) {{"
    yield from (f"  {line}" for line in index_lines(kernel.rows, "row", kind))
    yield from (f"  {line}" for line in pointer_lines(kernel))
    yield from (f"  {line}" for line in loops.before)
    yield from (f"  {line}" for line in _store_lines(loops.stores))
    for each in loops.passes:
        yield from (f"  {line}" for line in _pass_lines(each))
    yield "}"


def _pass_lines(each: Pass) -> Iterator[str]:
    yield from start_lines(each)
    yield f"for (int j = threadIdx.x; j < {each.length}; j += blockDim.x) {{"
    yield from (f"  {line}" for line in each.lines)
    yield "}"
    yield from (f"{total} = of_block({total}, sums);" for total in each.sums)
    yield from (f"{largest} = of_block({largest}, maxima);" for largest in each.maxima)
    if not (each.sums or each.maxima):
        # What is in buffers, others read; and the next row has the same ones.
        yield "__syncthreads();"
    yield from each.after
    yield from _store_lines(each.stores)


def _store_lines(stores: list[str]) -> Iterator[str]:
    """One thread writes what a row has one of, when all have read what was there."""
    if stores:
        yield "__syncthreads();"
        yield "if (threadIdx.x == 0) {"
        yield from (f"  {line}" for line in stores)
        yield "}"


def _index_type(count: int) -> str:
    # The step of the last round goes beyond the count.
    return "int" if count < (1 << 31) - MOST_BLOCKS * THREADS else "int64_t"


# Operators round their results: a product is rounded before it is added to something.
CUDA = Dialect("cuda", "fused.cu", PRELUDE, lambda: ["--fmad=false"], function_of, MOST_BUFFERED)
