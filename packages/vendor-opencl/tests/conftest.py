"""Devices for tests: Intel's runtime for CPUs, if one is installed or named."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

# Without clang the wheel is not built.
if importlib.util.find_spec("dl_vendor_opencl") is None:
    collect_ignore_glob = ["test_*.py"]
else:
    from processes import Vendor, device_count


@pytest.fixture(scope="session")
def device() -> None:
    """Skip if there is no OpenCL device."""
    if device_count() == 0:
        pytest.skip("no OpenCL device: `tools/nox -s share-opencl` installs a runtime for CPUs")


@pytest.fixture
def vendor(device: None, tmp_path: Path) -> Vendor:
    """Return the vendor with the devices of this machine and the cache of compiled kernels."""
    return Vendor()


@pytest.fixture
def uncached(device: None, tmp_path: Path) -> Vendor:
    """Return the vendor with an empty cache of its own."""
    return Vendor({"DL_OPENCL_CACHE": str(tmp_path / "cache")})


def pytest_report_header() -> str:
    return f"OpenCL driver: {os.environ.get('DL_OPENCL_DRIVER', 'the installed ones')}"
