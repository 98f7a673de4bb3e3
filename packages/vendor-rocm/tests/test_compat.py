"""Tests of kcg and mskpp with kernels in HIP C++, compiled by the fake hipRTC."""

from __future__ import annotations

import importlib.util
import runpy
from pathlib import Path

import pytest
from extension_tests.simulated_vendor import SimulatedVendor

DEVICES = Path(__file__).parents[2] / "compat" / "kcg" / "tests" / "test_kcg_devices.py"

if importlib.util.find_spec("kcg") is None:
    pytest.skip("kcg is not installed", allow_module_level=True)


def test_products_are_right(compiling: SimulatedVendor) -> None:
    checked = runpy.run_path(str(DEVICES))["CHECKED"]
    compiling.run(f"{checked}\nassert gemm.dialect(0).language == 'hip'\n")


def test_a_kernel_is_tuned_by_mskpp(compiling: SimulatedVendor, tmp_path: Path) -> None:
    if importlib.util.find_spec("mskpp") is None:
        pytest.skip("mskpp is not installed")
    shared = runpy.run_path(str(DEVICES.parents[2] / "mskpp" / "tests" / "test_mskpp_devices.py"))
    lines = compiling.run(shared["brief_program"](tmp_path)).splitlines()
    assert "Best config: No.1" in lines and "rocm:0, Fake 0 (simulated)" in lines
