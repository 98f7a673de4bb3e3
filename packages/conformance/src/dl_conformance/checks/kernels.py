"""Checks of the kernel extension: kernels are compiled from source, loaded, launched, refused."""

from __future__ import annotations

import numpy as np

from diopi_proto import Vendor, VendorError

from .check import SkipError, check, require

COUNT = 1000
BLOCK = 64
# Sources by language; a C++ kernel runs once for each block, the others once for each thread.
DOUBLED = {
    "c++": """
#include "dl_cpu_kernel.h"
DL_CPU_KERNEL(doubled) {
  float* data = dl_cpu_argument<float*>(arguments, 0);
  const int64_t count = dl_cpu_argument<int64_t>(arguments, 1);
  const int64_t threads = block->block[0], first = block->index[0] * threads;
  for (int64_t i = first; i < count && i < first + threads; ++i) data[i] *= 2;
}
""",
    "cuda": """
extern "C" __global__ void doubled(float* data, long long count) {
  const long long i = blockIdx.x * static_cast<long long>(blockDim.x) + threadIdx.x;
  if (i < count) data[i] *= 2;
}
""",
    "opencl": """
kernel void doubled(global float* data, long count) {
  const long i = get_global_id(0);
  if (i < count) data[i] *= 2;
}
""",
}


def _language(vendor: Vendor) -> str:
    """Return a language that the device compiles and this check has a source for."""
    if "kernel" not in vendor.extensions:
        raise SkipError("the library has no kernel extension")
    properties = vendor.kernels.properties()
    require(properties.languages, "the kernel extension compiles no language")
    if properties.unavailable:
        raise SkipError(properties.unavailable)
    known = next((x for x in properties.languages if x in DOUBLED), None)
    if known is None:
        raise SkipError(f"the suite has no kernel in {', '.join(properties.languages)}")
    return known


@check("a kernel runs for every element")
def doubled(vendor: Vendor) -> None:
    language = _language(vendor)
    code = vendor.kernels.compile(DOUBLED[language], language=language)
    require(code.bytes, "the compiler produced no code")
    data = vendor.tensor(np.arange(COUNT + 8, dtype=np.float32))
    function = vendor.kernels.load(code).function("doubled")
    function(data, np.int64(COUNT), grid=-(-COUNT // BLOCK), block=BLOCK)
    want = np.arange(COUNT + 8, dtype=np.float32)
    want[:COUNT] *= 2
    wrong = np.flatnonzero(data.numpy() != want)
    require(not wrong.size, f"{wrong.size} elements are wrong, the first at {wrong[:1]}")


@check("cached code equals fresh code")
def cached_code(vendor: Vendor) -> None:
    language = _language(vendor)
    first, second = (
        vendor.kernels.compile(DOUBLED[language], language=language, name="kept") for _ in range(2)
    )
    require(first.bytes == second.bytes, "the same source gives different code")


@check("source that does not compile is refused with the compiler's message")
def compile_error(vendor: Vendor) -> None:
    language = _language(vendor)
    source = DOUBLED[language].replace("count", "nowhere_declared", 1)
    try:
        vendor.kernels.compile(source, language=language)
    except VendorError as error:
        message = f"{error} {getattr(error, 'details', '')}"
        require("count" in message, f"the error does not name the problem: {message[:200]}")
    else:
        require(False, "source with an undeclared name was compiled")


@check("invalid code is not loaded")
def invalid_code(vendor: Vendor) -> None:
    _language(vendor)
    for code in (b"", b"no code" * 40):
        try:
            vendor.kernels.load(code)
        except VendorError as error:
            require(str(error).strip(), "the error has no message")
        else:
            require(False, f"{len(code)} bytes that are not code were loaded")
