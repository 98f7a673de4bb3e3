"""Builds for tests: the installed wheel, and kernels of host code on a fake driver.

The wheel needs hipcc. If it is not installed, all tests use the build for simulated devices.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).parents[2] / "vendor-kit"))

from driver_tests.fixtures import *  # noqa: F403 - pytest finds them here
from extension_tests.simulated_vendor import SimulatedVendor
from simulated import GIVEN, build

from processes import PROCESSES, Processes, compile_fake

FAMILIES = (
    *("activation_piecewise", "arithmetic", "complex", "convolution", "copy", "fill", "matmul"),
    *("reduction", "softmax"),
)
"""Families in a build for these tests; tools/simulated.py tests all families."""


long = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="slow: packages/vendor-rocm/tools/simulated.py runs it"
)


def simulated_site(folder: Path) -> Path:
    """Return a folder with a build for simulated devices: DL_TEST_ROCM_SIMULATED, or a new one."""
    given = os.environ.get(GIVEN)
    return Path(given) if given else build(folder, FAMILIES)


all_families = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="needs all families: packages/vendor-rocm/tools/simulated.py"
)
SITE = pytest.StashKey[Path]()
"""Folder of the build for simulated devices, if all tests use it."""


def pytest_configure(config: pytest.Config) -> None:
    if importlib.util.find_spec("dl_vendor_rocm") is not None:
        return
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    site = config.stash[SITE] = simulated_site(Path(folder.name))
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(scope="session")
def processes() -> Processes:
    return PROCESSES


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build the fake driver and return its path for DL_ROCM_DRIVER."""
    return compile_fake(tmp_path_factory.mktemp("fake"))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a fake driver that lacks a function."""
    return compile_fake(tmp_path_factory.mktemp("old"), "-DOLD")


@pytest.fixture(scope="session")
def fake_of_rocm5(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Build a fake driver with the layout of device properties of ROCm 5."""
    return compile_fake(tmp_path_factory.mktemp("rocm5"), "-DROCM5")


@pytest.fixture(scope="session")
def simulated(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> dict[str, str]:
    """Return the variables that select a build with emulated kernels, and their driver."""
    site = pytestconfig.stash.get(SITE, None)
    if site is None:
        site = simulated_site(tmp_path_factory.mktemp("simulated"))
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    driver = site / "dl_vendor_rocm" / "lib" / "libamdhip64.so"
    return {"PYTHONPATH": path, "DL_ROCM_DRIVER": str(driver)}


def fake_devices(count: int) -> dict[str, str]:
    """Return the variable that sets the number of devices; waves have 64 and 32 threads."""
    return {"FAKE_HIP_DEVICES": ",".join((["gfx90a", "gfx1030"] * count)[:count])}


@pytest.fixture
def fake_vendor(fake: str) -> SimulatedVendor:
    """Return this vendor on the fake driver, for the shared tests of errors."""
    waits = "hipStreamSynchronize:719,hipDeviceSynchronize:719"
    fails = {"wait": {"FAKE_HIP_FAIL": waits}}
    return SimulatedVendor(PROCESSES, fake_devices, fails, {"DL_ROCM_DRIVER": fake})


@pytest.fixture
def simulated_vendor(simulated: dict[str, str]) -> SimulatedVendor:
    """Return this vendor on simulated devices, for the shared tests of extensions and libraries."""
    fails = {"graph_instantiate": {"FAKE_HIP_FAIL": "hipGraphInstantiateWithFlags:1"}}
    return SimulatedVendor(PROCESSES, fake_devices, fails, simulated)


@pytest.fixture
def compiling(
    simulated_vendor: SimulatedVendor, fake_library: Callable[[str], str]
) -> SimulatedVendor:
    """Return the same vendor with a compiler of kernels."""
    return simulated_vendor.with_variables(DL_ROCM_HIPRTC=fake_library("hiprtc"))
