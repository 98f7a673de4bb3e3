"""CUDA kernels, compiled by NVRTC and run on a simulated GPU that checks every access and barrier.
The tests of C++ kernels compare them with the executor."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
WITHOUT_A_BARRIER = """
import torch

from dl_dicp.engines.codegen import graph_engine, opening, racing
from dl_dicp.engines import registry

prelude = opening.CUDA.prelude.replace("__syncthreads();", "", 1)
changed = {**opening.CUDA.__dict__, "prelude": prelude}
opening.CUDA = type(opening.CUDA)(**changed)
graph_engine.FEWEST_ELEMENTS = 0
compiled = torch.compile(
    lambda x: torch.softmax(x * 2, -1), backend="dl", options={"engine": "codegen"}
)
for _ in range(3):
    compiled(torch.randn(4, 500, device="dl"))
    racing.wait_for_kernels()
"""


@pytest.fixture(autouse=True)
def needs() -> None:
    """Skip without NVRTC and the simulated GPU."""
    for module in ("dl_vendor_cuda", "dl_gpu_sim"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    try:
        importlib.metadata.distribution("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("NVRTC is not installed")


def on_a_simulated_gpu(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dl_gpu_sim", "--", sys.executable, *command],
        env={**os.environ, "DL_VENDORS": "cuda"},
        capture_output=True,
        text=True,
        check=False,
    )


def test_operators_and_layouts_give_what_the_executor_gives() -> None:
    options = ("-q", "-p", "no:cacheprovider", "--show-capture=no")
    whole = os.environ.get("DL_TEST_SAMPLE") == "1"
    files = [str(HERE / f"test_codegen{end}.py") for end in (("", "_programs") if whole else ("",))]
    # The vendor's own norm overflows where the kernel's does not.
    which = "not data_that_the_check_has_not_seen"
    done = on_a_simulated_gpu("-m", "pytest", *options, *files, "-k", which)
    assert done.returncode == 0, done.stdout
    assert " passed" in done.stdout and ", 0 findings" in done.stderr, done.stderr


def test_a_missing_barrier_is_found() -> None:
    done = on_a_simulated_gpu("-c", WITHOUT_A_BARRIER)
    assert "[race]" in done.stderr and "fused_" in done.stderr, done.stderr
