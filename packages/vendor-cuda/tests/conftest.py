"""Drivers for tests: a simulator with failure injection, if it is installed."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "vendor-kit"))

from driver_tests.fixtures import *  # noqa: F403 - pytest finds them here
from driver_tests.processes import KIT
from extension_tests.simulated_vendor import SimulatedVendor

from processes import PROCESSES, Processes, nvidia_file


@pytest.fixture(scope="session")
def processes() -> Processes:
    return PROCESSES


@pytest.fixture(scope="session")
def old_driver(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a driver from before CUDA 12, which reports a later version; return its path."""
    folder = tmp_path_factory.mktemp("old")
    symbols = re.findall(
        r"X\(\w+, (cu\w+),", (KIT / "include/dl/kit/cuda_driver.h").read_text(encoding="utf-8")
    )
    names = set(symbols[: symbols.index("cuLibraryLoadData")]) - {"cuDriverGetVersion"}
    source = folder / "old.c"
    version = "int cuDriverGetVersion(int* version) { *version = 99000; return 0; }\n"
    source.write_text(version + "".join(f"int {name}() {{ return 0; }}\n" for name in names))
    target = folder / PROCESSES.driver
    subprocess.run(["gcc", "-shared", "-fPIC", str(source), "-o", str(target)], check=True)
    return str(target)


@pytest.fixture(scope="session")
def simulator() -> str:
    """Return the path of dl-gpu-sim's driver."""
    if importlib.util.find_spec("dl_gpu_sim") is None:
        pytest.skip("dl-gpu-sim is not installed")
    from dl_gpu_sim.paths import library

    return str(library())


@pytest.fixture(scope="session")
def nvrtc() -> str:
    """Return the path of NVRTC."""
    return os.environ.get("DL_CUDA_NVRTC") or str(nvidia_file("lib/libnvrtc.so.*"))


@pytest.fixture
def simulated_vendor(simulator: str) -> SimulatedVendor:
    """Return this vendor on the simulator, for the shared tests."""
    return SimulatedVendor(
        PROCESSES,
        devices=lambda count: {"DL_GPU_SIM_DEVICES": str(count)},
        fails={
            "graph_instantiate": {"DL_GPU_SIM_FAIL": "cuGraphInstantiate:1"},
            "wait": {"DL_GPU_SIM_FAIL": "cuStreamSynchronize=719,cuCtxSynchronize=719"},
        },
        variables={"DL_CUDA_DRIVER": simulator, "DL_GPU_SIM_MEMORY": "1G"},
    )


@pytest.fixture
def fake_vendor(simulated_vendor: SimulatedVendor) -> SimulatedVendor:
    """Return the same vendor, for the shared tests of errors."""
    return simulated_vendor


@pytest.fixture
def compiling(simulated_vendor: SimulatedVendor, nvrtc: str) -> SimulatedVendor:
    """Return the same vendor with a compiler of kernels."""
    return simulated_vendor.with_variables(DL_CUDA_NVRTC=nvrtc)
