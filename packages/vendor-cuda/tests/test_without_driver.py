"""A machine without NVIDIA's driver: one warning under torch, and reasons from `dl doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_vendor_cuda.presence import DEVICE_FILES
from processes import doctor, on_vendor, run

HAS_CARD = any(Path(path).exists() for path in DEVICE_FILES)
without_card = pytest.mark.skipif(HAS_CARD, reason="this machine has an NVIDIA card")


@without_card
def test_importing_torch_warns_once_and_loads_nothing() -> None:
    said = run(
        """
        import torch
        maps = open("/proc/self/maps").read()
        assert "libdl_vendor_cuda" not in maps and "libcuda" not in maps, "it was loaded"
        assert not (hasattr(torch, "dl") and torch.dl.is_available())
        """,
        # Where the repository's tests put vendors for tests, which have devices.
        PYTHONPATH="",
    )
    assert said.count("RuntimeWarning: dl-core: no dl device is available") == 1
    assert "cuda is installed but reports no device" in said and "dl doctor" in said


@without_card
def test_asked_for_alone_it_has_no_device() -> None:
    assert on_vendor("print(vendor.present, vendor.device_count)") == "False 0\n"


@without_card
def test_doctor_says_what_is_missing() -> None:
    found = doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no NVIDIA card here" in found["no_device"]
    assert "libcuda.so.1 is not installed: install NVIDIA's driver" in found["no_device"]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("libcuda.so.1", "is no absolute path; give one, or unset it"),
        ("build/libcuda.so.1", "is no absolute path; give one, or unset it"),
        ("/nowhere/libcuda.so.1", "is not there; name another driver, or unset it"),
    ],
)
def test_a_driver_that_is_named_wrongly_is_told(named: str, reason: str) -> None:
    found = doctor(DL_CUDA_DRIVER=named)
    assert found["device_count"] == 0
    said = f"no device: DL_CUDA_DRIVER='{named}' {reason}"
    assert found["no_device"] == said
    assert run("import torch", DL_CUDA_DRIVER=named).count(said) == 1


def test_a_driver_that_others_could_have_put_there_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    driver = folder / "libcuda.so.1"
    driver.write_bytes(b"")
    assert "others could have put it there" in doctor(DL_CUDA_DRIVER=str(driver))["no_device"]


def test_a_file_that_is_no_library_is_told(tmp_path: Path) -> None:
    driver = tmp_path / "libcuda.so.1"
    driver.write_text("no library", encoding="utf-8")
    found = doctor(DL_CUDA_DRIVER=str(driver))
    assert found["device_count"] == 0
    assert "no driver can be opened" in found["no_device"]
