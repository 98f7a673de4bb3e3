"""Programs of tests that run on the devices of a vendor that is installed here.

Tests of wheels that compile kernels on a device use this module; tests of a vendor use
``SimulatedVendor``.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import subprocess
import sys

import pytest

SECONDS = 600
"""Timeout of a program, which only ends one that hangs: compilers of drivers take minutes of a busy
machine."""
_HAS_DEVICE = "import torch, sys; sys.exit(not (hasattr(torch, 'dl') and torch.dl.is_available()))"


def run_program(code: str, *before: str, **variables: str) -> str:
    """Run a program with the modules of this process; return what it has printed.

    :param before: command that runs its arguments.
    """
    done = _run(code, *before, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_on_simulated_gpu(code: str, **variables: str) -> str:
    """Run a program on a simulated CUDA GPU; skip the test where NVRTC or a wheel is missing."""
    for module in ("dl_vendor_cuda", "dl_gpu_sim"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"{module} is not installed")
    try:
        importlib.metadata.distribution("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        pytest.skip("NVRTC is not installed")
    simulated = (sys.executable, "-m", "dl_gpu_sim", "--")
    return run_program(code, *simulated, DL_VENDORS="cuda", **variables)


def run_on_opencl(code: str, **variables: str) -> str:
    """Run a program on an OpenCL device; skip the test if there is none."""
    if _run(_HAS_DEVICE, DL_VENDORS="opencl").returncode != 0:
        pytest.skip("no OpenCL device")
    return run_program(code, DL_VENDORS="opencl", **variables)


def _run(code: str, *before: str, **variables: str) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(filter(None, sys.path))
    return subprocess.run(
        [*before, sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path, **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
