"""OpenCL C kernels, translated from the source that all GPUs share, and run on an OpenCL device.
The tests of the C++ kernels are run again with them: they compare results with the executor's."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dl_dicp.engines.codegen.opencl import PRELUDE, opencl_of

HERE = Path(__file__).parent
AVAILABLE = "import torch, sys; sys.exit(not (hasattr(torch, 'dl') and torch.dl.is_available()))"


def on_a_device(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "DL_VENDORS": "opencl"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_constructs_of_cuda_are_rewritten() -> None:
    text = """\
extern "C" __global__ __launch_bounds__(64) void k(char* a0) {
  __shared__ double sums[kParts];
  for (int row = blockIdx.x; row < 3; row += gridDim.x) {
    Half* const p0 = reinterpret_cast<Half*>(a0) + 0ll + i0 * 4ll;
    const float s1 = static_cast<float>(p0[0]);
    t1 += static_cast<double>(math::exp(rounded<Half>(s1)));
    __syncthreads();
    const int start = int(blockIdx.x) * blockDim.x + threadIdx.x;
  }
}
"""
    assert (
        opencl_of(text)
        == """\
__attribute__((reqd_work_group_size(64, 1, 1))) kernel void k(global char* a0) {
  local double sums[kParts];
  for (int row = get_group_id(0); row < 3; row += get_num_groups(0)) {
    global Half* const p0 = (global Half*)(a0) + 0l + i0 * 4l;
    const float s1 = to_float(p0[0]);
    t1 += (double)(math_exp(rounded_Half(s1)));
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    const int start = (int)get_group_id(0) * get_local_size(0) + get_local_id(0);
  }
}
"""
    )


def test_the_prelude_is_c() -> None:
    assert "::" not in PRELUDE and "template" not in PRELUDE


def test_operators_and_layouts_give_what_the_executor_gives() -> None:
    if importlib.util.find_spec("dl_vendor_opencl") is None:
        pytest.skip("dl-vendor-opencl is not installed")
    if on_a_device("-c", AVAILABLE).returncode != 0:
        pytest.skip("no OpenCL device; to test on the CPU, set DL_OPENCL_DRIVER to a CPU runtime")
    options = ("-q", "-p", "no:cacheprovider", "--show-capture=no")
    whole = os.environ.get("DL_TEST_SAMPLE") == "1"
    files = [str(HERE / f"test_codegen{end}.py") for end in (("", "_programs") if whole else ("",))]
    done = on_a_device("-m", "pytest", *options, *files)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout, done.stdout
