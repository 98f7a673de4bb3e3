"""Drivers for tests: a fake with failure injection, and a simulator, if it is installed."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from dl_vendor_cuda.plugin import dl_vendor
from processes import KIT, compile_fake, run, run_on_vendor

sys.path.insert(0, str(KIT))

from extension_tests.simulated_vendor import SimulatedVendor


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the fake driver and return its path for DL_CUDA_DRIVER."""
    return str(compile_fake(tmp_path_factory.mktemp("fake")))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a fake driver from before CUDA 12 that reports a later version."""
    return str(compile_fake(tmp_path_factory.mktemp("old"), "-DOLD"))


@pytest.fixture
def no_driver(tmp_path: Path) -> str:
    """Return a path that does not exist."""
    return str(tmp_path / "libcuda.so.1")


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
    named = os.environ.get("DL_CUDA_NVRTC")
    if named:
        return named
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for path in Path(folder).glob("cu*/lib/libnvrtc.so.*"):
            return str(path)
    pytest.skip("nvidia-cuda-nvrtc is not installed")


@pytest.fixture
def fake_vendor(fake: str) -> SimulatedVendor:
    """Return this vendor on the fake driver, for the shared tests of errors."""
    return SimulatedVendor(
        vendor="cuda",
        library=str(dl_vendor().library),
        python_runner=run,
        vendor_runner=run_on_vendor,
        devices=lambda count: {"FAKE_CUDA_DEVICES": str(count)},
        fails={"wait": {"FAKE_CUDA_FAIL": "cuStreamSynchronize:719,cuCtxSynchronize:719"}},
        variables={"DL_CUDA_DRIVER": fake},
    )


@pytest.fixture
def simulated_vendor(simulator: str) -> SimulatedVendor:
    """Return this vendor for the shared tests of extensions."""
    return SimulatedVendor(
        vendor="cuda",
        library=str(dl_vendor().library),
        python_runner=run,
        vendor_runner=run_on_vendor,
        devices=lambda count: {"DL_GPU_SIM_DEVICES": str(count)},
        fails={"graph_instantiate": {"DL_GPU_SIM_FAIL": "cuGraphInstantiate:1"}},
        variables={"DL_CUDA_DRIVER": simulator},
    )


@pytest.fixture
def compiling(simulated_vendor: SimulatedVendor, nvrtc: str) -> SimulatedVendor:
    """Return the same vendor with a compiler of kernels."""
    return simulated_vendor.with_variables(DL_CUDA_NVRTC=nvrtc)
