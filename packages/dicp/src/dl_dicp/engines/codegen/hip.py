"""HIP code of kernels, compiled at run time without headers.

The threads of a block reduce through shared memory, because a wave has 32 threads on some GPUs and
64 on others.
"""

from __future__ import annotations

from dl_dicp.engines.codegen.dialect import FUNCTIONS, Dialect
from dl_dicp.engines.codegen.gpu import MATH, MOST_BUFFERED, THREADS, function_of

PRELUDE = (
    """\
#define FN __device__

typedef long long wide_t;

#define kInfinity __builtin_inff()
#define kNaN __builtin_nanf("")

struct Half {
  _Float16 value;
  FN explicit Half(float x) : value(_Float16(x)) {}
  FN explicit operator float() const { return float(value); }
};
struct BFloat16 {
  unsigned short bits;
  FN explicit BFloat16(float x) {
    const unsigned whole = __builtin_bit_cast(unsigned, x);
    bits = x != x ? 0x7fc0 : (whole + 0x7fff + ((whole >> 16) & 1)) >> 16;
  }
  FN explicit operator float() const { return __builtin_bit_cast(float, unsigned(bits) << 16); }
};

"""
    + MATH
    + f"""
enum {{ kParts = {THREADS} }};  // threads
"""
    + """
template <class T>
FN T of_block(T x, T* of_threads) {
  of_threads[threadIdx.x] = x;
  for (int step = blockDim.x / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step)
      of_threads[threadIdx.x] = joined(of_threads[threadIdx.x], of_threads[threadIdx.x + step]);
  }
  __syncthreads();
  x = of_threads[0];
  __syncthreads();
  return x;
}

"""
    + FUNCTIONS
)


# Operators round their results: a product is rounded before it is added (no contraction to FMA).
HIP = Dialect(
    "hip", "fused.hip", PRELUDE, lambda: ["-ffp-contract=off"], function_of, MOST_BUFFERED
)
