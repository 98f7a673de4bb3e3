"""Tests without AMD's driver: `import torch` warns once, and `dl doctor` lists the reasons."""

from __future__ import annotations

import pytest
from driver_tests.absence import *  # noqa: F403 - pytest collects them here

from dl_vendor_rocm.presence import SIMULATOR
from processes import Processes, run

for_gpus = pytest.mark.skipif(SIMULATOR.is_file(), reason="this build is for simulated devices")


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


@for_gpus
def test_doctor_reports_what_is_missing(without_gpu: Processes) -> None:
    found = without_gpu.doctor()
    assert (found["present"], found["device_count"], found["error"]) == (False, 0, "")
    assert "there is no AMD GPU" in found["no_device"]
    missing = "libamdhip64.so.7, .6 or .5, is not installed: install ROCm"
    assert (missing in found["no_device"]) == (installed_driver() is None)


@for_gpus
def test_amds_own_driver_has_all_functions_and_no_device(without_gpu: Processes) -> None:
    driver = installed_driver()
    if driver is None:
        pytest.skip("HIP's runtime is not installed")
    found = without_gpu.doctor(DL_ROCM_DRIVER=driver)
    assert (found["device_count"], found["error"]) == (0, "")
    assert "HIP_VISIBLE_DEVICES" in found["no_device"]
