"""OpenCL C code of kernels: the common GPU text, with its C++ rewritten.

The text uses C++ only in fixed forms, which regular expressions can rewrite: casts, functions of
``math``, launch sizes and indices, barriers and shared memory.
"""

from __future__ import annotations

import re
from dataclasses import replace

from dl_dicp.engines.codegen.dialect import ARITHMETIC, Dialect, Function
from dl_dicp.engines.codegen.gpu import COMPOSED, MOST_BUFFERED, THREADS, function_of
from dl_dicp.engines.codegen.kernel import Kernel

_TYPES = "float|Half|BFloat16|bool"
_REWRITTEN = [
    (re.compile(pattern), text)
    for pattern, text in (
        (
            r'extern "C" __global__ __launch_bounds__\((\d+)\) void',
            r"__attribute__((reqd_work_group_size(\1, 1, 1))) kernel void",
        ),
        (r"\bchar\* (a\d+)", r"global char* \1"),
        (rf"\b({_TYPES})\* const (p\d+)", r"global \1* const \2"),
        (rf"\breinterpret_cast<({_TYPES})\*>\(", r"(global \1*)("),
        (r"\bstatic_cast<float>\(", r"to_float("),
        (r"\bstatic_cast<(double|bool)>\(", r"(\1)("),
        (r"\brounded<(\w+)>\(", r"rounded_\1("),
        (r"\bmath::", r"math_"),
        (r"\b__shared__\b", r"local"),
        # Fence global memory as well: one thread stores after all threads have read.
        (r"\b__syncthreads\(\)", r"barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)"),
        # C has no casts like `int(x)`.
        (r"\b(int|wide_t)\((blockIdx|gridDim)\.x\)", r"(\1)\2.x"),
        (r"\bblockIdx\.x\b", r"get_group_id(0)"),
        (r"\bthreadIdx\.x\b", r"get_local_id(0)"),
        (r"\bblockDim\.x\b", r"get_local_size(0)"),
        (r"\bgridDim\.x\b", r"get_num_groups(0)"),
        (r"\b(\d+)ll\b", r"\1l"),
    )
]


def opencl_of(text: str) -> str:
    """Convert the C++ text of a GPU kernel to OpenCL C."""
    for pattern, replacement in _REWRITTEN:
        text = pattern.sub(replacement, text)
    return text


PRELUDE = (
    f"""\
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define FN __attribute__((overloadable)) static inline
#define kInfinity INFINITY
#define kNaN NAN

typedef long wide_t;
typedef struct {{ ushort bits; }} Half;
typedef struct {{ ushort bits; }} BFloat16;

enum {{ kParts = {THREADS} }};  // threads
"""
    + """
FN float to_float(float x) { return x; }
FN float to_float(double x) { return (float)x; }
FN float to_float(Half x) { return vload_half(0, (const half*)&x); }
FN float to_float(BFloat16 x) { return as_float((uint)x.bits << 16); }

FN Half to_Half(float x) {
  Half rounded;
  vstore_half_rte(x, 0, (half*)&rounded);
  return rounded;
}
FN BFloat16 to_BFloat16(float x) {
  const uint whole = as_uint(x);
  BFloat16 rounded;
  rounded.bits = x != x ? 0x7fc0 : (whole + 0x7fff + ((whole >> 16) & 1)) >> 16;
  return rounded;
}
FN float rounded_Half(float x) { return to_float(to_Half(x)); }
FN float rounded_BFloat16(float x) { return to_float(to_BFloat16(x)); }

FN void put(global float* to, float value) { *to = value; }
FN void put(global Half* to, float value) { *to = to_Half(value); }
FN void put(global BFloat16* to, float value) { *to = to_BFloat16(value); }
FN void put(global bool* to, bool value) { *to = value; }

FN float root(float x) { return sqrt(x); }
FN double root(double x) { return sqrt(x); }

FN float math_magnitude(float x) { return fabs(x); }
FN float math_exp(float x) { return exp(x); }
FN float math_expm1(float x) { return expm1(x); }
FN float math_log(float x) { return log(x); }
FN float math_log1p(float x) { return log1p(x); }
FN float math_log2(float x) { return log2(x); }
FN float math_log10(float x) { return log10(x); }
FN float math_pow(float x, float y) { return pow(x, y); }
FN float math_tanh(float x) { return tanh(x); }
FN float math_erf(float x) { return erf(x); }
FN float math_sigmoid(float x) { return 1.0f / (1.0f + exp(-x)); }
FN float normal_share(float x) { return 0.5f * erfc(-0.70710678118654752440f * x); }
// Beyond 13 the distribution function is 0 or 1, and an infinity times 0 would be NaN.
FN float math_gelu(float x) { return x < -13.0f ? -0.0f : x * normal_share(x); }
FN float math_gelu_derivative(float x) {
  const float share = normal_share(x);
  return fabs(x) > 13.0f ? share : share + x * exp(-0.5f * x * x) * 0.39894228040143267794f;
}

"""
    + opencl_of(f"{COMPOSED}\n{ARITHMETIC}")
    + """
// Reduces the values of a block's threads, with one element of local memory for each thread.
#define OF_BLOCK(T)                                                                        \\
  FN T of_block(T x, local T* of_threads) {                                                \\
    const uint here = get_local_id(0);                                                     \\
    of_threads[here] = x;                                                                  \\
    for (uint step = get_local_size(0) / 2; step > 0; step /= 2) {                         \\
      barrier(CLK_LOCAL_MEM_FENCE);                                                        \\
      if (here < step) of_threads[here] = joined(of_threads[here], of_threads[here + step]); \\
    }                                                                                      \\
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \\
    x = of_threads[0];                                                                     \\
    barrier(CLK_LOCAL_MEM_FENCE);                                                          \\
    return x;                                                                              \\
  }
OF_BLOCK(float)
OF_BLOCK(double)

"""
)


def opencl_function_of(kernel: Kernel, name: str) -> Function:
    """Return a kernel's function in OpenCL C."""
    made = function_of(kernel, name)
    return replace(made, text=opencl_of(made.text))


OPENCL = Dialect(
    "opencl",
    "fused.cl",
    PRELUDE,
    # Round square roots and quotients correctly, as on other devices.
    lambda: ["-cl-std=CL1.2", "-cl-fp32-correctly-rounded-divide-sqrt"],
    opencl_function_of,
    MOST_BUFFERED,
)
