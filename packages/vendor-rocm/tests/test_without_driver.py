"""Tests without AMD's driver: one warning under torch, and reasons from `dl doctor`."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_vendor_rocm.presence import DEVICE_FILES, SIMULATOR
from processes import doctor, run, run_on_vendor

HAS_GPU = any(Path(path).exists() for path in DEVICE_FILES)
without_gpu = pytest.mark.skipif(HAS_GPU, reason="this machine has an AMD GPU")


def installed_driver() -> str | None:
    """Return the path of AMD's own driver, if it is installed."""
    code = """
    import cffi
    for release in (7, 6, 5):
        try:
            cffi.FFI().dlopen(f"libamdhip64.so.{release}")
        except OSError:
            continue
        print(next(line.split()[-1] for line in open("/proc/self/maps") if "libamdhip64" in line))
        break
    """
    return run(code).strip() or None


@without_gpu
def test_importing_torch_warns_once_and_loads_nothing() -> None:
    output = run(
        """
        import sys
        # The repository's test vendors are on this path, and they have devices.
        sys.path[:] = [path for path in sys.path if "test-plugins" not in path]
        import torch
        maps = open("/proc/self/maps").read()
        assert "libdl_vendor_rocm" not in maps and "libamdhip64" not in maps, "a library was loaded"
        assert not (hasattr(torch, "dl") and torch.dl.is_available())
        """
    )
    assert output.count("RuntimeWarning: dl-core: no dl device is available") == 1
    assert "rocm is installed but reports no device" in output and "dl doctor" in output


@without_gpu
def test_selected_alone_it_has_no_device() -> None:
    assert run_on_vendor("print(vendor.present, vendor.device_count)") == "False 0\n"


@without_gpu
@pytest.mark.skipif(SIMULATOR.is_file(), reason="this build is for simulated devices")
def test_doctor_reports_what_is_missing() -> None:
    found = doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no AMD GPU" in found["no_device"]
    missing = "libamdhip64.so.7, .6 or .5, is not installed: install ROCm"
    assert (missing in found["no_device"]) == (installed_driver() is None)


@without_gpu
@pytest.mark.skipif(SIMULATOR.is_file(), reason="this build is for simulated devices")
def test_amds_own_driver_has_all_functions_and_no_device() -> None:
    driver = installed_driver()
    if driver is None:
        pytest.skip("HIP's runtime is not installed")
    found = doctor(DL_ROCM_DRIVER=driver)
    assert (found["device_count"], found["error"]) == (0, "")
    assert "HIP_VISIBLE_DEVICES" in found["no_device"]


@pytest.mark.parametrize(
    ("named", "reason"),
    [
        ("libamdhip64.so.7", "is not an absolute path; set one or unset it"),
        ("build/libamdhip64.so.7", "is not an absolute path; set one or unset it"),
        ("/nowhere/libamdhip64.so.7", "does not exist; set another driver or unset it"),
    ],
)
def test_an_invalid_driver_path_is_reported(named: str, reason: str) -> None:
    found = doctor(DL_ROCM_DRIVER=named)
    assert found["device_count"] == 0
    output = f"no device: DL_ROCM_DRIVER='{named}' {reason}"
    assert found["no_device"] == output
    assert run("import torch", DL_ROCM_DRIVER=named).count(output) == 1


def test_a_driver_in_a_folder_of_other_users_is_not_loaded(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    driver = folder / "libamdhip64.so"
    driver.write_bytes(b"")
    assert "other users could have put it there" in doctor(DL_ROCM_DRIVER=str(driver))["no_device"]


def test_a_file_that_is_not_a_library_is_reported(tmp_path: Path) -> None:
    driver = tmp_path / "libamdhip64.so"
    driver.write_text("not a library", encoding="utf-8")
    found = doctor(DL_ROCM_DRIVER=str(driver))
    assert found["device_count"] == 0
    assert "no driver can be opened" in found["no_device"]
