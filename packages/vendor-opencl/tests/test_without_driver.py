"""Tests without a driver: nothing is loaded, and `dl doctor` reports the reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from processes import doctor, run, run_on_vendor

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
    assert run_on_vendor(code, OCL_ICD_VENDORS=str(tmp_path)) == "True\n"


def test_the_reason_names_the_folder_without_drivers() -> None:
    found = doctor(**NOTHING)
    assert (found["device_count"], found["error"]) == (0, "")
    assert "no driver is installed: /nowhere has no .icd file" in found["no_device"]
    assert "pip install intel-opencl-rt" in found["no_device"]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("libOpenCL.so.1", "is not an absolute path; set one or unset it"),
        ("build/libOpenCL.so.1", "is not an absolute path; set one or unset it"),
        ("/nowhere/libOpenCL.so.1", "does not exist; set another driver or unset it"),
    ],
)
def test_an_invalid_driver_path_is_reported(named: str, reason: str) -> None:
    found = doctor(DL_OPENCL_DRIVER=named)
    assert found["device_count"] == 0
    output = f"DL_OPENCL_DRIVER names '{named}', which {reason}"
    assert output in found["no_device"]


def test_a_driver_in_a_folder_of_other_users_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    driver = folder / "libOpenCL.so"
    driver.write_bytes(b"")
    found = doctor(DL_OPENCL_DRIVER=str(driver))
    assert "other users could have put it there" in found["no_device"]


def test_a_file_that_is_not_a_library_is_named(tmp_path: Path) -> None:
    driver = tmp_path / "libOpenCL.so"
    driver.write_text("not a library", encoding="utf-8")
    found = doctor(DL_OPENCL_DRIVER=str(driver))
    assert found["device_count"] == 0
    assert "no OpenCL driver can be opened" in found["no_device"]
    assert str(driver) in found["no_device"]
