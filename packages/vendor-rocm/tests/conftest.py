"""What tests run on: the wheel that is installed, and kernels of ordinary code on a fake driver.

The wheel takes hipcc. Where it is not installed, all tests are of the build for simulated cards.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import tempfile
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "tools"))
sys.path.insert(0, str(Path(__file__).parents[2] / "vendor-kit"))

from extension_tests.played import Played
from simulated import GIVEN, build

FAMILIES = (
    *("activation_piecewise", "arithmetic", "complex", "convolution", "copy", "fill", "matmul"),
    *("reduction", "softmax"),
)
"""What a build for these tests has; tools/simulated.py has all of them tested."""


long = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="takes long: packages/vendor-rocm/tools/simulated.py runs it"
)


def simulated_site(folder: Path) -> Path:
    """A folder with the vendor for simulated cards: what DL_TEST_ROCM_SIMULATED names, or new."""
    given = os.environ.get(GIVEN)
    return Path(given) if given else build(folder, FAMILIES)


all_families = pytest.mark.skipif(
    not os.environ.get(GIVEN), reason="takes all families: packages/vendor-rocm/tools/simulated.py"
)
SITE = pytest.StashKey[Path]()
"""Where all tests are of the build for simulated cards, its folder."""


def pytest_configure(config: pytest.Config) -> None:
    if importlib.util.find_spec("dl_vendor_rocm") is not None:
        return
    folder = tempfile.TemporaryDirectory()
    config.add_cleanup(folder.cleanup)
    site = config.stash[SITE] = simulated_site(Path(folder.name))
    sys.path.insert(0, str(site))
    os.environ["PYTHONPATH"] = os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])


@pytest.fixture(scope="session")
def fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a driver for DL_ROCM_DRIVER."""
    from processes import compile_fake

    return str(compile_fake(tmp_path_factory.mktemp("fake")))


@pytest.fixture(scope="session")
def old_fake(tmp_path_factory: pytest.TempPathFactory) -> str:
    """That of a driver which lacks a function."""
    from processes import compile_fake

    return str(compile_fake(tmp_path_factory.mktemp("old"), "-DOLD"))


@pytest.fixture(scope="session")
def fake_of_rocm5(tmp_path_factory: pytest.TempPathFactory) -> str:
    """That of ROCm 5, whose properties of cards are laid out otherwise."""
    from processes import compile_fake

    return str(compile_fake(tmp_path_factory.mktemp("rocm5"), "-DROCM5"))


@pytest.fixture(scope="session")
def simulated(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> dict[str, str]:
    """Variables of a process whose dl-vendor-rocm has kernels that run, and their driver."""
    site = pytestconfig.stash.get(SITE, None)
    if site is None:
        site = simulated_site(tmp_path_factory.mktemp("simulated"))
    path = os.pathsep.join(filter(None, [str(site), os.environ.get("PYTHONPATH")]))
    driver = site / "dl_vendor_rocm" / "lib" / "libamdhip64.so"
    return {"PYTHONPATH": path, "DL_ROCM_DRIVER": str(driver)}


@pytest.fixture
def played(simulated: dict[str, str]) -> Played:
    """This vendor, as the tests of extensions want it that other vendors have too."""
    from processes import on_vendor, run

    driver = Path(simulated["DL_ROCM_DRIVER"])
    return Played(
        vendor="rocm",
        library=str(driver.with_name("libdl_vendor_rocm.so")),
        run_python=run,
        run_on_vendor=on_vendor,
        cards=lambda count: {"FAKE_HIP_CARDS": ",".join(["gfx90a"] * count)},
        fails={"graph_instantiate": {"FAKE_HIP_FAIL": "hipGraphInstantiateWithFlags:1"}},
        variables=simulated,
    )


@pytest.fixture(scope="session")
def hiprtc(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a compiler in a library."""
    from processes import compile_library

    return str(compile_library("hiprtc", tmp_path_factory.mktemp("hiprtc")))


@pytest.fixture
def compiling(played: Played, hiprtc: str) -> Played:
    """The same, with a compiler of kernels."""
    return played.having(DL_ROCM_HIPRTC=hiprtc)
