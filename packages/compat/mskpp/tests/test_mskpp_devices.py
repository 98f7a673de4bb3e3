"""Kernels on devices whose vendor compiles them: a simulated CUDA GPU, OpenCL.

dl-vendor-ascend and dl-vendor-rocm run ``brief_program`` on their fakes.
"""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest
from extension_tests.device_programs import run_on_opencl, run_on_simulated_gpu

HEADER = """\
#pragma once
typedef struct { int first; float second; } Pair;
"""
KERNEL = """\
#include "pair.h"
const int TIMES = 3;  // tunable
#define HARM 0  // tunable
__global__ __aicore__ void add(GM_ADDR from, GM_ADDR to, Pair pair, int64_t count) {
  __gm__ float* a = (__gm__ float*)from;
  __gm__ volatile float* b = (__gm__ volatile float*)to;
  for (int time = 0; time < TIMES; ++time)
    for (int64_t i = AscendC::GetBlockIdx(); i < count; i += AscendC::GetBlockNum())
      b[i] = a[i] * pair.first + pair.second;
  if (AscendC::GetBlockIdx() != 0) return;
  if (HARM == 1) b[0] = 7;
  if (HARM == 2) b[count] = 7;
  if (HARM == 3) a[0] = 7;
}
"""
PROGRAM = """
import ctypes, os
import numpy as np
import mskpp

class Pair(ctypes.Structure):
    _fields_ = [("first", ctypes.c_int), ("second", ctypes.c_float)]

os.chdir({folder!r})

def add(count=60):
    a, b = np.arange(count, dtype=np.float32), np.zeros(count, np.float32)
    gen_file = mskpp.Launcher(mskpp.KernelInvokeConfig("add.cpp", "add")).code_gen()
    kernel = mskpp.compile(build_script="not_run.sh", launch_src_file=gen_file)
    kernel[2](a, b, Pair(2, 0.5), count)
    return a, b

def refused(call, words):
    try:
        call()
    except mskpp.MskppError as error:
        assert words in str(error), error
    else:
        raise AssertionError(words)

# The rest is not part of the brief program.
harms = [{{"HARM": str(harm)}} for harm in (1, 2, 3)]
configs = [*harms, {{"TIMES": "no number"}}, {{"NONE": "1"}}, {{"TIMES": "1"}}, {{"TIMES": "2"}}]
tuned = mskpp.autotune(configs=configs, warmup=1, repeat=1, device_ids=[0])(add)
a, b = tuned()
assert (b == 2 * a + 0.5).all()
found = tuned.tuned
expected = ("argument 1 is wrong: 1 of 60 elements", "writes outside argument 1",
            "changes its input, argument 0", "add.cpp does not compile for",
            "key NONE has no marker")
for number, words in enumerate(expected):
    assert words in found.failures[number], found.failures[number]
assert found.best in (5, 6), found
again = np.zeros_like(b)
kernel = mskpp.get_kernel_from_binary("_gen_module.so")
kernel[3](a, again, Pair(2, 0.5), np.int64(len(a)), repeat=2)
assert (again == b).all()
refused(lambda: mskpp.autotune(configs=harms, device_ids=[9]), ":9 cannot run kernels")
print("device", found.device)
"""


BRIEF = """
tuned = mskpp.autotune(configs=[{"HARM": "1"}, {"TIMES": "1"}], warmup=1, repeat=1)(add)
a, b = tuned()
assert (b == 2 * a + 0.5).all()
assert "argument 1 is wrong: 1 of 60 elements" in tuned.tuned.failures[0], tuned.tuned.failures
assert tuned.tuned.best == 1
print(tuned.tuned.device)
"""
"""End of a program for fakes, whose compilers are slow."""


def brief_program(folder: Path) -> str:
    """As ``program``, with two configurations; it prints the device last."""
    beginning, _, _ = program(folder).partition("# The rest")
    return beginning + BRIEF


def program(folder: Path, kernel: str = KERNEL) -> str:
    """Write a kernel to a folder, and return a program that tunes it on the device."""
    (folder / "add.cpp").write_text(kernel)
    (folder / "pair.h").write_text(HEADER)
    return PROGRAM.format(folder=str(folder))


def check_output(output: str, device: str) -> None:
    """Check the lines that msKPP prints, and the device."""
    lines = [line for line in output.splitlines() if line.startswith(("No.", "Best", "device"))]
    assert [line.partition(":")[0] for line in lines[:3]] == ["No.5", "No.6", "Best config"]
    assert lines[3].startswith(f"device {device}"), lines


def test_a_kernel_is_tuned_on_a_simulated_gpu(tmp_path: Path) -> None:
    threads = """
kernel[2, 32](a, again, Pair(3, 0.5), np.int64(60))
assert (again == 3 * a + 0.5).all()
refused(lambda: kernel[1](a, again, np.float32(1), np.int64(60)), "failed")
"""
    # Blocks of 32 threads: each computes the elements with its own remainder.
    kernel = KERNEL.replace("AscendC::GetBlockIdx();", "blockIdx.x * blockDim.x + threadIdx.x;")
    kernel = kernel.replace("AscendC::GetBlockNum()", "gridDim.x * blockDim.x")
    code = program(tmp_path, kernel) + threads
    output = run_on_simulated_gpu(code, MSKPP_LOG_LEVEL="1")
    check_output(output, "cuda:0, dl-gpu-sim")


def test_a_kernel_is_tuned_in_opencl(tmp_path: Path) -> None:
    code = program(tmp_path, KERNEL.replace("AscendC::", "").replace("const int", "__constant int"))
    check_output(run_on_opencl(code), "opencl:0, ")


@pytest.mark.parametrize(
    ("vendors", "message"),
    [("none-here", "unknown vendor none-here"), ("conformance", "unknown vendor conformance")],
)
def test_vendors_that_cannot_compile_are_refused(
    monkeypatch: pytest.MonkeyPatch, vendors: str, message: str
) -> None:
    devices = importlib.import_module("mskpp.devices")
    monkeypatch.setenv("DL_VENDORS", vendors)
    with pytest.raises(devices.MskppError, match=f"{vendors}:0 cannot run kernels: .*{message}"):
        devices.target()
