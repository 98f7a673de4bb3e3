"""Tests of msKPP's tuner with kernels in Ascend C, on fakes of CANN's runtime and compiler."""

from __future__ import annotations

import importlib.util
import runpy
from collections.abc import Callable
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor

DEVICES = Path(__file__).parents[2] / "compat" / "mskpp" / "tests" / "test_mskpp_devices.py"

if importlib.util.find_spec("mskpp") is None:
    pytest.skip("mskpp is not installed", allow_module_level=True)


def test_a_kernel_is_tuned_on_a_fake_npu(
    fake_vendor: SimulatedVendor, fake_library: Callable[[str], str], tmp_path: Path
) -> None:
    shared = runpy.run_path(str(DEVICES))
    compiling = fake_vendor.with_variables(DL_ASCEND_RTC=fake_library("rtc"))
    lines = compiling.run(shared["brief_program"](tmp_path)).splitlines()
    assert "Best config: No.1" in lines and "ascend:0, Ascend910B3" in lines
