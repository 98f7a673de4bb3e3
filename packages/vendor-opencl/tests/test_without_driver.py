"""Tests without a driver: nothing is loaded, and `dl doctor` reports the reason."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from driver_tests.absence import (  # noqa: F401 - pytest collects them here
    test_a_driver_in_a_folder_of_other_users_is_not_loaded,
    test_a_file_that_is_not_a_library_is_named,
    test_an_invalid_driver_path_is_reported,
)
from driver_tests.processes import Processes

from processes import SETTINGS, doctor, run, run_on_vendor

NOTHING = {"DL_VENDORS": "opencl", "OCL_ICD_VENDORS": "/nowhere"}


def test_importing_torch_without_a_request_loads_nothing() -> None:
    run(
        """
        import torch
        maps = open("/proc/self/maps").read()
        assert "libdl_vendor_opencl" not in maps and "libOpenCL" not in maps
        """,
        OCL_ICD_VENDORS="/nowhere",
    )


def test_presence_opens_no_driver(tmp_path: Path) -> None:
    (tmp_path / "x.icd").write_text("/nowhere/libx.so\n", encoding="utf-8")
    code = """
    print(vendor.present)
    assert "libOpenCL" not in open("/proc/self/maps").read()
    """
    # A driver is of use only with the loader, which this machine may not have.
    installed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True)
    has_loader = "libOpenCL.so.1" in installed.stdout
    assert run_on_vendor(code, OCL_ICD_VENDORS=str(tmp_path)) == f"{has_loader}\n"


def test_the_reason_names_the_folder_without_drivers() -> None:
    found = doctor(**NOTHING)
    assert (found["device_count"], found["error"]) == (0, "")
    assert "no driver is installed: /nowhere has no .icd file" in found["no_device"]
    assert "pip install intel-opencl-rt" in found["no_device"]


@pytest.fixture
def processes() -> Processes:
    return Processes("opencl", SETTINGS, "libOpenCL.so.1")
