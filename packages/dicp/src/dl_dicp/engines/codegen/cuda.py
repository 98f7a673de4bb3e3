"""CUDA code of kernels, compiled at run time without headers."""

from __future__ import annotations

from dl_dicp.engines.codegen.dialect import FUNCTIONS, Dialect
from dl_dicp.engines.codegen.gpu import MATH, MOST_BUFFERED, function_of

PRELUDE = (
    """\
#define FN __device__ inline

typedef long long wide_t;

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

"""
    + MATH
    + """
enum { kParts = 8 };  // warps

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
    + FUNCTIONS
)


# Operators round their results: a product is rounded before it is added (no contraction to FMA).
CUDA = Dialect("cuda", "fused.cu", PRELUDE, lambda: ["--fmad=false"], function_of, MOST_BUFFERED)
