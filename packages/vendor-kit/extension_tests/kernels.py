"""Tests of kernels compiled from source text, in the common subset of CUDA and HIP."""

from __future__ import annotations

from .simulated_vendor import SimulatedVendor

SCALE = '''
    SCALE = """
    extern "C" __global__ void scale(float* x, float factor, long long count) {
      const long long i = blockIdx.x * (long long)blockDim.x + threadIdx.x;
      if (i < count) x[i] *= factor;
    }
    extern "C" __global__ void turn(const int* from, int* to) {
      extern __shared__ int held[];
      held[threadIdx.x] = from[threadIdx.x];
      __syncthreads();
      to[threadIdx.x] = held[blockDim.x - 1 - threadIdx.x];
    }
    """
'''


def test_source_is_compiled_and_runs(compiling: SimulatedVendor) -> None:
    code = """
    found = vendor.kernels.properties()
    assert found.compiler.startswith("/") and not found.unavailable
    code = vendor.kernels.compile(SCALE, name="scale.x", options=["-DN=1"])
    again = vendor.kernels.compile(SCALE, name="scale.x", options=["-DN=1"])
    assert (code.cached, again.cached, again.bytes) == (False, True, code.bytes)
    module = vendor.kernels.load(code)
    x = vendor.tensor(np.arange(100, dtype="float32"))
    module.function("scale")(x, np.float32(3), 100, grid=4, block=32)
    np.testing.assert_array_equal(x.numpy(), 3 * np.arange(100))
    given, out = vendor.tensor(np.arange(32, dtype="int32")), vendor.empty((32,), "int32")
    # More shared memory than a kernel gets by default.
    module.function("turn")(given, out, block=32, shared_bytes=64 << 10)
    np.testing.assert_array_equal(out.numpy(), np.arange(32)[::-1])
    needs = module.function("scale").properties
    assert needs.max_block_threads == 1024 and needs.spill_bytes is None
    """
    compiling.run_on_vendor(SCALE + code)


def test_a_header_comes_with_the_source(compiling: SimulatedVendor) -> None:
    code = """
    text = '#include "factor.h"\\nextern "C" __global__ void k(int* x) { *x = FACTOR; }'
    code = vendor.kernels.compile(text, headers={"factor.h": "#define FACTOR 7"})
    x = vendor.empty((1,), "int32")
    vendor.kernels.load(code).function("k")(x)
    assert x.numpy().tolist() == [7]
    """
    compiling.run_on_vendor(code)


def test_wrong_sizes_and_names_are_reported(compiling: SimulatedVendor) -> None:
    code = """
    compile, load = vendor.kernels.compile, vendor.kernels.load
    expect_error(lambda: compile("", language="opencl"), "'opencl' is not supported")
    for option in ("--gpu-architecture=sm_90", "--offload-arch=gfx942", "-fplugin=/tmp/x.so",
                   "-Wl,/tmp/x", "--time=/tmp/x", "--create-pch=/tmp/x", "-o", "-include/x", "x"):
        expect_error(lambda: compile("", options=[option]), option, "does more than affect")
    expect_error(lambda: load(b"no code of any kind"), "image_load")
    module = load(compile(SCALE))
    expect_error(lambda: module.function("missing"), "no kernel 'missing'", 'extern "C"')
    scale, x = module.function("scale"), vendor.tensor(np.ones(4, "float32"))
    expect_error(lambda: scale(x, np.float32(2), 4, block=2048), "block 2048x1x1", "1024")
    expect_error(lambda: scale(x, np.float32(2), 4, block=(64, 32)), "2048 threads")
    expect_error(lambda: scale(x, np.float32(2), 4, grid=(1, 1 << 20)), "grid 1x1048576x1")
    expect_error(lambda: scale(x, np.float32(2), 4, shared_bytes=1 << 20), "1048576 shared bytes")
    assert x.numpy().tolist() == [1, 1, 1, 1]
    """
    compiling.run_on_vendor(SCALE + code)
