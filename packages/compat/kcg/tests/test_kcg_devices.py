"""Matrix products on devices other than CPUs: a simulated CUDA GPU, OpenCL.

dl-vendor-rocm runs ``CHECKED`` on its fakes.
"""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from extension_tests.device_programs import run_on_opencl, run_on_simulated_gpu

START = """
import importlib
import numpy as np
import torch
import kcg
names, gemm, measuring = (importlib.import_module(f"kcg.{x}") for x in
                          ("names", "gemm", "measuring"))
NAME = ("kcg_MM_bM64N32K32isAT0W32_BM32BN32BK16TM4TN8BLY1BLX1WLY8WLX4GLWA1GLWB1BSWM1BSWN1"
        "WSWM1WSWN1LSU1Map3GSW0UN0RP0SP0LC0RC0")

def check(name):
    kernel = gemm.Gemm(names.config_of(name), 0)
    problem, rng = kernel.problem, np.random.default_rng(0)
    a = measuring.operand(rng, (problem.batch, problem.m, problem.k))
    b = measuring.operand(rng, (problem.batch, problem.k, problem.n))
    measuring.judge(kernel, a, b, (torch.from_numpy(a).to("dl"), torch.from_numpy(b).to("dl")))
    return kernel
"""
VARIANTS = [
    {},
    {"isAT0": "isAT1", "UN0": "UN4", "GLWA1": "GLWA4", "GLWB1": "GLWB2"},
    {"_bM": "_b3M", "SP0": "SP1"},
    {"TM4": "TM2", "BLY1": "BLY2", "Map3": "Map0", "SP0": "SP1"},
    {"LSU1": "LSU2", "K32": "K64"},
]
"""Changes of the name, which together use every parameter that matters on a GPU."""


CHECKED = f"""{START}
for changes in {VARIANTS}:
    name = NAME
    for before, after in changes.items():
        assert before in name
        name = name.replace(before, after)
    check(name)
"""


def on_gpu(code: str) -> str:
    return run_on_simulated_gpu(code, DL_GPU_SIM_STRICT="1")


def test_kernels_are_right_on_a_simulated_gpu() -> None:
    on_gpu(CHECKED)


def test_tensor_cores_are_used_where_torch_allows_their_precision(tmp_path: Path) -> None:
    kernels = tmp_path / "kernels.json"
    code = f"""{START}
import json
import os
import subprocess
import sys
def compiled():
    return gemm.compiled(names.config_of(NAME), 0)
assert b"mma.sync" not in compiled()
torch.set_float32_matmul_precision("high")
assert b"mma.sync" in compiled()
for name in (NAME, NAME.replace("isAT0", "isAT1").replace("BLX1", "BLX2").replace("N32", "N64")
             .replace("BN32", "BN64")):
    assert check(name).on_tensor_cores
assert not check(NAME.replace("LSU1", "LSU2")).on_tensor_cores
entry = {{"type": "matmul", "kernelName": NAME, "pklpath": ""}}
open({str(kernels)!r}, "w").write(json.dumps({{"kernels": [entry]}}))
assert kcg.registerPreCompiledKernelByJson({str(kernels)!r}, 0) == 1
a, b = torch.rand(64, 32), torch.rand(32, 32)
product = kcg.OpProxy.f_matmul(a.to("dl"), b.to("dl"))
torch.testing.assert_close(product.cpu(), a @ b, rtol=2e-3, atol=2e-3)
# A program that asks for precise products again gets them.
torch.set_float32_matmul_precision("highest")
kcg.OpProxy.f_matmul(a.to("dl"), b.to("dl"))
print(kcg.OpProxy.GetOpCallCounts())
"""
    assert on_gpu(code) == "{'MatmulOp': 1}\n"


def test_the_tester_and_compile_model_run_on_a_simulated_gpu(tmp_path: Path) -> None:
    values = {
        "BATCH_SIZE": [1],
        "M_SIZE": [32],
        "N_SIZE": [32],
        "K_SIZE": [16],
        **{f"DATATYPE_{matrix}": [4] for matrix in "ABC"},
        "BLOCK_SIZE_M": [32],
        "BLOCK_SIZE_N": [32],
        "BLOCK_SIZE_K": [8, 16],
        "THREAD_SIZE_M": [4],
        "THREAD_SIZE_N": [8],
        "WARP_SIZE": [32],
        "BLOCK_LAYOUT_Y": [1],
        "BLOCK_LAYOUT_X": [1],
        "WARP_LAYOUT_Y": [8],
        "WARP_LAYOUT_X": [4],
        **{f"GLOB_LOAD_WIDTH_{matrix}": [1] for matrix in "AB"},
        **{f"{what}_SCATTER_WIDTH_{at}": [1] for what in ("BLOCK", "WARP") for at in "MN"},
        "LOCAL_SPLIT_U": [1],
        "BLOCK_MAPPING": [0],
        "GLOB_STORE_WIDTH": [0],
        "UNROLL_NUM": [0],
        "REG_PREFETCH": [0],
        "SHARED_PREFETCH": [0],
        "LOAD_CONTINUOUS": [0],
        "STORE_CONTINUOUS": [0],
        "IS_ATRANS": [0],
    }
    config, result = tmp_path / "small.json", tmp_path / "result.json"
    config.write_text(json.dumps(values))
    code = f"""
import importlib
searching, tester = (importlib.import_module(f"kcg.{{x}}") for x in
                     ("searching", "SimpleLocalTester"))
searching._PROCESSES = 1
assert tester.main([{str(config)!r}, {str(result)!r}, "0", "2", "0", "0"]) == 0
import torch, kcg
a, b = torch.rand(16, 16, device="dl"), torch.rand(16, 16, device="dl")
((problem, best),) = kcg.compile_model(0, lambda: kcg.OpProxy.f_matmul(a, b), evaluations=1)
print(problem, best.verdict.verdict.value)
"""
    said = on_gpu(code)
    assert "2 configurations on dl:0 (dl-gpu-sim, vendor cuda)\n" in said
    assert "No.0: " in said and "No.1: " in said and "measured again, against torch.matmul" in said
    assert "(16 x 16) (16 x 16) " in said
    rows = json.loads(result.read_text())["testResult"]
    assert len(rows) == 2 and all(row["time"] > 0 for row in rows)


def test_kernels_are_right_in_opencl() -> None:
    run_on_opencl(CHECKED)


def test_a_device_of_another_language_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    gemm = importlib.import_module("kcg.gemm")
    monkeypatch.setattr(gemm._C, "kernel_languages", lambda device: ("ascendc", ""))
    gemm.dialect.cache_clear()
    with pytest.raises(gemm.KcgError, match=r"compiles kernels in ascendc, but .* cuda, hip"):
        gemm.dialect(0)
    gemm.dialect.cache_clear()


def test_the_absence_of_a_device_is_told() -> None:
    code = "from kcg import DeviceInfo; DeviceInfo.init_cuda([0])"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code],
        env={**os.environ, "DL_VENDORS": "none"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "KcgError: [kcg] kernels run on the dl device, and there is none" in done.stderr
