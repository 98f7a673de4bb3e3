"""Tests without NVIDIA's driver: one warning under torch, and reasons from `dl doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_vendor_cuda.presence import DEVICE_FILES
from processes import doctor, run, run_on_vendor

HAS_GPU = any(Path(path).exists() for path in DEVICE_FILES)
without_gpu = pytest.mark.skipif(HAS_GPU, reason="this machine has an NVIDIA GPU")


@without_gpu
def test_importing_torch_warns_once_and_loads_nothing() -> None:
    output = run(
        """
        import torch
        maps = open("/proc/self/maps").read()
        assert "libdl_vendor_cuda" not in maps and "libcuda" not in maps, "a library was loaded"
        assert not (hasattr(torch, "dl") and torch.dl.is_available())
        """,
        # The repository's test vendors are on this path, and they have devices.
        PYTHONPATH="",
    )
    assert output.count("RuntimeWarning: dl-core: no dl device is available") == 1
    assert "cuda is installed but reports no device" in output and "dl doctor" in output


@without_gpu
def test_selected_alone_it_has_no_device() -> None:
    assert run_on_vendor("print(vendor.present, vendor.device_count)") == "False 0\n"


@without_gpu
def test_doctor_reports_what_is_missing() -> None:
    found = doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no NVIDIA GPU" in found["no_device"]
    assert "libcuda.so.1 is not installed: install NVIDIA's driver" in found["no_device"]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("libcuda.so.1", "is not an absolute path; set one or unset it"),
        ("build/libcuda.so.1", "is not an absolute path; set one or unset it"),
        ("/nowhere/libcuda.so.1", "does not exist; set another driver or unset it"),
    ],
)
def test_an_invalid_driver_path_is_reported(named: str, reason: str) -> None:
    found = doctor(DL_CUDA_DRIVER=named)
    assert found["device_count"] == 0
    output = f"no device: DL_CUDA_DRIVER='{named}' {reason}"
    assert found["no_device"] == output
    assert run("import torch", DL_CUDA_DRIVER=named).count(output) == 1


def test_a_driver_in_a_folder_of_other_users_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    driver = folder / "libcuda.so.1"
    driver.write_bytes(b"")
    assert "other users could have put it there" in doctor(DL_CUDA_DRIVER=str(driver))["no_device"]


def test_a_file_that_is_not_a_library_is_reported(tmp_path: Path) -> None:
    driver = tmp_path / "libcuda.so.1"
    driver.write_text("not a library", encoding="utf-8")
    found = doctor(DL_CUDA_DRIVER=str(driver))
    assert found["device_count"] == 0
    assert "no driver can be opened" in found["no_device"]
