"""Drivers that tests use: a fake for errors, and a simulator, where it is installed."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from dl_vendor_cuda.plugin import dl_vendor
from processes import KIT, compile_fake, on_vendor, run

sys.path.insert(0, str(KIT))

from extension_tests.played import Played


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a driver for DL_CUDA_DRIVER."""
    return str(compile_fake(tmp_path_factory.mktemp("fake")))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """That of a driver from before CUDA 12, which says that it is later."""
    return str(compile_fake(tmp_path_factory.mktemp("old"), "-DOLD"))


@pytest.fixture
def no_driver(tmp_path: Path) -> str:
    """A path with nothing there."""
    return str(tmp_path / "libcuda.so.1")


@pytest.fixture(scope="session")
def simulator() -> str:
    """The path of dl-gpu-sim's driver."""
    if importlib.util.find_spec("dl_gpu_sim") is None:
        pytest.skip("dl-gpu-sim is not installed")
    from dl_gpu_sim.paths import library

    return str(library())


@pytest.fixture(scope="session")
def nvrtc() -> str:
    """The path of NVIDIA's compiler in a library."""
    named = os.environ.get("DL_CUDA_NVRTC")
    if named:
        return named
    spec = importlib.util.find_spec("nvidia")
    for folder in spec.submodule_search_locations or () if spec is not None else ():
        for path in Path(folder).glob("cu*/lib/libnvrtc.so.*"):
            return str(path)
    pytest.skip("nvidia-cuda-nvrtc is not installed")


@pytest.fixture
def played(simulator: str) -> Played:
    """This vendor, as the tests of extensions want it that other vendors have too."""
    return Played(
        vendor="cuda",
        library=str(dl_vendor().library),
        run_python=run,
        run_on_vendor=on_vendor,
        cards=lambda count: {"DL_GPU_SIM_DEVICES": str(count)},
        fails={"graph_instantiate": {"DL_GPU_SIM_FAIL": "cuGraphInstantiate:1"}},
        variables={"DL_CUDA_DRIVER": simulator},
    )


@pytest.fixture
def compiling(played: Played, nvrtc: str) -> Played:
    """The same, with a compiler of kernels."""
    return played.having(DL_CUDA_NVRTC=nvrtc)
