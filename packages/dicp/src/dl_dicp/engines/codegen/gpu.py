"""GPU kernels: the common part of CUDA, HIP and OpenCL.

If elements are independent, each one has a thread. Otherwise each row has a block, whose threads
process elements with a stride of the block size: the same elements in all passes, so that threads
synchronize only for reductions and for buffers that another thread reads.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from dl_dicp.engines.codegen.dialect import (
    Function,
    index_lines,
    pointer_lines,
    start_lines,
    storages_of,
)
from dl_dicp.engines.codegen.kernel import Kernel
from dl_dicp.engines.codegen.loops import Pass

THREADS = 256
"""Maximum threads of a block."""
MOST_BLOCKS = 1 << 16
MOST_BUFFERED = 40 << 10
"""Maximum bytes of shared memory for a row; every GPU has 48 KiB."""

COMPOSED = """\
FN float gelu_inner(float x) { return 0.79788456080286535588f * (x + 0.044715f * x * x * x); }
FN float gelu_by_tanh(float x) { return 0.5f * x * (1.0f + math::tanh(gelu_inner(x))); }
FN float gelu_by_tanh_gradient(float grad, float x) {
  const float t = math::tanh(gelu_inner(x));
  const float slope = 0.79788456080286535588f * (1.0f + 3 * 0.044715f * x * x);
  return grad * (0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * slope);
}

FN double joined(double a, double b) { return a + b; }
FN float joined(float a, float b) { return a > b ? a : b; }
"""
"""Part of each prelude that is valid C apart from ``math::``."""

MATH = (
    """\
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
// Beyond 13 the distribution function is 0 or 1, and an infinity times 0 would be NaN.
FN float gelu(float x) { return x < -13.0f ? -0.0f : x * normcdff(x); }
FN float gelu_derivative(float x) {
  const float share = normcdff(x);
  return fabsf(x) > 13.0f ? share : share + x * expf(-0.5f * x * x) * 0.39894228040143267794f;
}
}  // namespace math

"""
    + COMPOSED
)
"""Part of each C++ prelude. The rest of the prelude has to define ``FN``, ``wide_t``,
``kInfinity``, ``kNaN``, ``Half``, ``BFloat16``, and ``of_block``, which reduces the values of a
block's threads in ``kParts`` elements of shared memory."""


def function_of(kernel: Kernel, name: str) -> Function:
    """Return the source text of a kernel's function."""
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
    head = f'extern "C" __global__ __launch_bounds__({threads}) void {name}({parameters}) {{'
    body = _by_rows(kernel, rows) if by_rows else _by_elements(kernel, rows)
    text = "\n".join([head, *(f"  {line}" for line in body), "}", ""])
    return Function(name, text, min(blocks, MOST_BLOCKS), threads, storages)


def _needs_rows(kernel: Kernel) -> bool:
    """Return True if the threads of a row exchange values, False if elements are independent."""
    loops = kernel.loops
    if not loops.passes:
        return False
    return not loops.are_of_elements or bool(loops.stores or loops.passes[0].stores)


def _by_elements(kernel: Kernel, rows: int) -> Iterator[str]:
    """Return code with one thread per element, or per row if each row is one value."""
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
    """Return code with one block of threads per row."""
    loops = kernel.loops
    kind = _index_type(rows)
    if any(each.sums for each in loops.passes):
        yield "__shared__ double sums[kParts];"
    if any(each.maxima for each in loops.passes):
        yield "__shared__ float maxima[kParts];"
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
        # Wait: other threads read the buffers, and the next row reuses them.
        yield "__syncthreads();"
    yield from each.after
    yield from _store_lines(each.stores)


def _store_lines(stores: list[str]) -> Iterator[str]:
    """Return code in which one thread writes the per-row results after all threads have read."""
    if stores:
        yield "__syncthreads();"
        yield "if (threadIdx.x == 0) {"
        yield from (f"  {line}" for line in stores)
        yield "}"


def _index_type(count: int) -> str:
    # The last iteration may exceed the count.
    return "int" if count < (1 << 31) - MOST_BLOCKS * THREADS else "wide_t"
