"""Drivers for tests: a fake with failure injection, and a simulator, if it is installed."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "vendor-kit"))

from extension_tests.simulated_vendor import SimulatedVendor

from processes import PROCESSES, Processes, compile_fake, nvidia_file


@pytest.fixture
def processes() -> Processes:
    return PROCESSES


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the fake driver and return its path for DL_CUDA_DRIVER."""
    return compile_fake(tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a fake driver from before CUDA 12 that reports a later version."""
    return compile_fake(tmp_path_factory.mktemp("old"), "-DOLD")


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
def fake_vendor(fake: str) -> SimulatedVendor:
    """Return this vendor on the fake driver, for the shared tests of errors."""
    return SimulatedVendor(
        PROCESSES,
        devices=lambda count: {"FAKE_CUDA_DEVICES": str(count)},
        fails={"wait": {"FAKE_CUDA_FAIL": "cuStreamSynchronize:719,cuCtxSynchronize:719"}},
        variables={"DL_CUDA_DRIVER": fake},
    )


@pytest.fixture
def simulated_vendor(simulator: str) -> SimulatedVendor:
    """Return this vendor on the simulator, for the shared tests of extensions and libraries."""
    return SimulatedVendor(
        PROCESSES,
        devices=lambda count: {"DL_GPU_SIM_DEVICES": str(count)},
        fails={"graph_instantiate": {"DL_GPU_SIM_FAIL": "cuGraphInstantiate:1"}},
        variables={"DL_CUDA_DRIVER": simulator},
    )


@pytest.fixture
def compiling(simulated_vendor: SimulatedVendor, nvrtc: str) -> SimulatedVendor:
    """Return the same vendor with a compiler of kernels."""
    return simulated_vendor.with_variables(DL_CUDA_NVRTC=nvrtc)
