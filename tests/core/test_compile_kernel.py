"""torch.dl.compile_kernel: kernels in C++ on the CPU, in CUDA on the simulated GPU, in OpenCL C."""

from __future__ import annotations

import ctypes
import importlib.metadata
import importlib.util
import os
import subprocess
import sys
import threading

import numpy as np
import pytest
import torch

pytestmark = pytest.mark.vendor("cpu")

SCALE = """
#include "dl_cpu_kernel.h"

DL_CPU_KERNEL(scale) {  // (float* to, const float* from, double factor, int32_t count)
  float* to = dl_cpu_argument<float*>(arguments, 0);
  const float* from = dl_cpu_argument<const float*>(arguments, 1);
  const float factor = dl_cpu_argument<double>(arguments, 2);
  const int64_t count = dl_cpu_argument<int32_t>(arguments, 3), threads = block->block[0];
  const int64_t first = block->index[0] * threads;
  for (int64_t i = first; i < count && i < first + threads; ++i) to[i] = from[i] * factor;
}
"""
TYPES = """
#include "dl_cpu_kernel.h"

DL_CPU_KERNEL(sum) {
  double* to = dl_cpu_argument<double*>(arguments, 0);
  const auto* missing = dl_cpu_argument<const float*>(arguments, 1);
  *to = double(missing == nullptr) + double(dl_cpu_argument<int64_t>(arguments, 2)) +
        dl_cpu_argument<float>(arguments, 3) + dl_cpu_argument<int16_t>(arguments, 4) +
        dl_cpu_argument<bool>(arguments, 5) + dl_cpu_argument<double>(arguments, 6);
}
"""
SHARED = """
#include "dl_cpu_kernel.h"

DL_CPU_KERNEL(index) {  // writes the index of each block, by way of its shared memory
  auto* to = dl_cpu_argument<int32_t*>(arguments, 0);
  auto* own = static_cast<int32_t*>(block->shared);
  const auto* size = block->grid;
  own[0] = block->index[0] + size[0] * (block->index[1] + size[1] * block->index[2]);
  to[own[0]] = own[0] * 100 + block->shared_bytes;
}
"""
ON_A_GPU = {
    "cuda": """extern "C" __global__ void scale(
    float* to, const float* from, double factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) to[i] = from[i] * static_cast<float>(factor);
}""",
    "opencl": """kernel void scale(
    global float* to, global const float* from, float factor, int count) {
  const int i = get_global_id(0);
  if (i < count) to[i] = from[i] * factor;
}""",
}
PROGRAM = """
import ctypes, sys, torch

kernel = torch.dl.compile_kernel(sys.argv[1], "scale")
x = torch.arange(1000.0, device="dl")
y = torch.empty_like(x)
factor = ctypes.c_float(3) if torch.dl.get_device_properties(0).vendor == "opencl" else 3.0
kernel((8,), (128,), [y, x, factor, 1000])
assert torch.equal(y.cpu(), torch.arange(1000.0) * 3), y
print("equal")
"""


@pytest.fixture(scope="module")
def scale() -> torch.dl.Kernel:
    return torch.dl.compile_kernel(SCALE, "scale")


def apply(kernel: torch.dl.Kernel, x: torch.Tensor, factor: float) -> torch.Tensor:
    result = torch.empty_like(x)
    kernel(grid=(-(-x.numel() // 64), 1, 1), block=(64, 1, 1), args=[result, x, factor, x.numel()])
    return result


def test_a_kernel_computes_on_tensors(scale: torch.dl.Kernel) -> None:
    x = torch.randn(1000, device="dl")
    assert torch.equal(apply(scale, x, 2.0), x * 2)
    view = x[3:70]
    assert torch.equal(apply(scale, view, 0.5), view * 0.5)
    assert repr(scale) == "<kernel scale on dl:0>"


def test_arguments_have_the_types_of_their_parameters() -> None:
    kernel = torch.dl.compile_kernel(TYPES, "sum")
    to = torch.empty(1, dtype=torch.float64, device="dl")
    large = ctypes.c_int64(1 << 40)
    kernel(args=[to, None, large, ctypes.c_float(0.5), np.int16(7), True, 0.25])
    assert to.item() == (1 << 40) + 9.75


def test_grids_and_shared_memory() -> None:
    kernel = torch.dl.compile_kernel(SHARED, "index")
    to = torch.zeros(24, dtype=torch.int32, device="dl")
    kernel((2, 3, 4), 1, [to], shared_mem=64)
    assert to.tolist() == [100 * i + 64 for i in range(24)]


def test_a_stream_is_used(scale: torch.dl.Kernel) -> None:
    x, stream = torch.ones(10, device="dl"), torch.dl.Stream()
    result = torch.empty_like(x)
    scale((1,), (16,), [result, x, 4.0, 10], stream=stream)
    stream.synchronize()
    assert result.tolist() == [4.0] * 10


def test_threads_share_a_kernel(scale: torch.dl.Kernel) -> None:
    x = torch.randn(500, device="dl")
    results: dict[int, torch.Tensor] = {}
    threads = [
        threading.Thread(target=lambda n=n: results.update({n: apply(scale, x, float(n))}))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(results[n], x * n) for n in range(4))


def test_sources_that_do_not_compile_are_errors() -> None:
    with pytest.raises(RuntimeError, match="undeclared_name"):
        torch.dl.compile_kernel(SCALE.replace("from[i] *", "undeclared_name *"), "scale")
    with pytest.raises(RuntimeError, match="shrink"):
        torch.dl.compile_kernel(SCALE, "shrink")
    with pytest.raises(ValueError, match=r"no DL_CPU_KERNEL.*begin the kernel with"):
        torch.dl.compile_kernel('extern "C" void scale() {}', "scale")
    with pytest.raises(NotImplementedError, match=r"dl:0 compiles c\+\+, not 'fortran'"):
        torch.dl.compile_kernel(SCALE, "scale", language="fortran")
    with pytest.raises(ValueError, match="expected a dl device"):
        torch.dl.compile_kernel(SCALE, "scale", device="cpu")


def test_invalid_launches_are_errors(scale: torch.dl.Kernel) -> None:
    x = torch.ones(4, device="dl")
    with pytest.raises(ValueError, match=r"kernel scale: argument 1 is on cpu.*for dl:0"):
        scale((1,), (4,), [x, torch.ones(4), 1.0, 4])
    with pytest.raises(ValueError, match=r"argument 3, 2147483648, is not .*ctypes.c_int64"):
        scale((1,), (4,), [x, x, 1.0, 1 << 31])
    with pytest.raises(TypeError, match="argument 2 has the type str"):
        scale((1,), (4,), [x, x, "1", 4])
    for grid in ((), (0,), (1, 1, 1, 1), (1.5,)):
        with pytest.raises(ValueError, match=r"grid=.*is not one to three positive integers"):
            scale(grid, (4,), [x, x, 1.0, 4])
    with pytest.raises(RuntimeError, match="argument 2 is missing"):
        scale((1,), (4,), [x, x])
    assert torch.equal(x.cpu(), torch.ones(4))


def test_a_custom_operator_has_gradients_and_is_compiled(scale: torch.dl.Kernel) -> None:
    from dl_dicp import statistics

    @torch.library.custom_op("dl_test::scaled", mutates_args=())
    def scaled(x: torch.Tensor, factor: float) -> torch.Tensor:
        return apply(scale, x, factor)

    @scaled.register_fake
    def _(x: torch.Tensor, factor: float) -> torch.Tensor:
        return torch.empty_like(x)

    scaled.register_autograd(
        lambda ctx, grad: (scaled(grad, ctx.factor), None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1]),
    )

    def function(x: torch.Tensor) -> torch.Tensor:
        return scaled(x.sin(), 3.0).exp()

    statistics.reset()
    compiled = torch.compile(function, fullgraph=True, backend="dl")
    for _ in range(3):
        x = torch.randn(40, device="dl", requires_grad=True)
        results = [run(x) for run in (function, compiled)]
        grads = [torch.autograd.grad(result.sum(), x)[0] for result in results]
        torch.testing.assert_close(*results)
        torch.testing.assert_close(*grads)
    torch.testing.assert_close(grads[0], (3 * x.sin()).exp() * 3 * x.cos())
    assert statistics.graphs >= 2
    assert set(statistics.host_calls) == {"dl_test::scaled"}
    torch.library.opcheck(scaled, (torch.randn(8, device="dl"), 2.0))


def run_on(vendor: str, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "DL_VENDORS": vendor},
        capture_output=True,
        text=True,
        check=False,
    )


def test_cuda_kernels_run_on_a_simulated_gpu() -> None:
    for module in ("dl_vendor_cuda", "dl_gpu_sim"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    try:
        importlib.metadata.distribution("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("NVRTC is not installed")
    simulator = ("-m", "dl_gpu_sim", "--", sys.executable)
    done = run_on("cuda", *simulator, "-c", PROGRAM, ON_A_GPU["cuda"])
    assert done.returncode == 0, done.stderr
    assert "equal" in done.stdout
    assert ", 0 findings" in done.stderr


def test_opencl_kernels_run_on_an_opencl_device() -> None:
    if importlib.util.find_spec("dl_vendor_opencl") is None:
        pytest.skip("dl-vendor-opencl is not installed")
    available = (
        "import torch, sys; sys.exit(not (hasattr(torch, 'dl') and torch.dl.is_available()))"
    )
    if run_on("opencl", "-c", available).returncode != 0:
        pytest.skip("no OpenCL device; to test on the CPU, set DL_OPENCL_DRIVER to a CPU runtime")
    done = run_on("opencl", "-c", PROGRAM, ON_A_GPU["opencl"])
    assert done.returncode == 0, done.stderr
    assert "equal" in done.stdout
