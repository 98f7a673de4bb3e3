"""Tests of driver and device errors on a simulator, which injects failures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver_tests.errors import *  # noqa: F403 - pytest collects them here
from driver_tests.errors import fail_launch
from extension_tests.simulated_vendor import SimulatedVendor

from processes import doctor, run


def test_a_device_is_described(fake_vendor: SimulatedVendor) -> None:
    (device,) = fake_vendor.with_variables(DL_GPU_SIM_CAPABILITY="8.6").doctor()["devices"]
    assert (device["name"], device["architecture"]) == ("dl-gpu-sim", "sm_86")
    assert device["total_memory"] == 1 << 30


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (
            {"DL_GPU_SIM_CUDA": "12.4"},
            "supports CUDA 12.4, but this library needs one for CUDA 1",
        ),
        ({"DL_GPU_SIM_DEVICES": "0"}, "CUDA_VISIBLE_DEVICES may hide the available ones"),
        ({"DL_GPU_SIM_CAPABILITY": "6.1"}, "none for dl-gpu-sim (compute capability 6.1)"),
        ({"DL_GPU_SIM_FAIL": "cuInit=999"}, "does not initialize: CUDA_ERROR_UNKNOWN (999)"),
        ({"DL_GPU_SIM_FAIL": "cuDeviceGetCount=304"}, "does not initialize"),
    ],
)
def test_driver_errors_are_reported(
    fake_vendor: SimulatedVendor, variables: dict[str, str], reason: str
) -> None:
    found = fake_vendor.with_variables(**variables).doctor()
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


def test_a_driver_without_a_function_is_reported(old_driver: str) -> None:
    found = doctor(DL_CUDA_DRIVER=old_driver)
    assert found["device_count"] == 0
    assert "has no function cuLibraryLoadData" in found["no_device"]
    assert "install a later driver" in found["no_device"]


def test_devices_that_are_too_old_are_excluded(fake_vendor: SimulatedVendor) -> None:
    two = fake_vendor.with_devices(2).with_variables(DL_GPU_SIM_CAPABILITY="6.1,8.0")
    assert [device["architecture"] for device in two.doctor()["devices"]] == ["sm_80"]


def test_an_unusable_driver_is_one_warning_under_torch(simulator: str) -> None:
    output = run("import torch", DL_CUDA_DRIVER=simulator, DL_GPU_SIM_CUDA="12.4")
    assert output.count("CUDA 12.4") == 1


def test_launches_run_on_the_device_of_the_tensors(
    fake_vendor: SimulatedVendor, tmp_path: Path
) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"), device=1)
    vendor.op.Relu(vendor.empty((4,), "float32", device=1), x)
    vendor.synchronize(1)
    """
    report = tmp_path / "report.json"
    fake_vendor.with_devices(2).with_variables(DL_GPU_SIM_REPORT=str(report)).run_on_vendor(code)
    calls = json.loads(report.read_text(encoding="utf-8"))["calls"]
    assert calls["cuLibraryLoadData"] == calls["cuLaunchKernel"] == 1


@pytest.mark.parametrize(
    ("failing", "output"),
    [
        ("cuLaunchKernel=700", ["(700)", "cuLaunchKernel of ", "must be restarted"]),
        ("cuLibraryLoadData=222", ["(222)", "cuLibraryLoadData of ", "install a later driver"]),
        ("cuLibraryLoadData=209", ["(209)", "has no code for the device"]),
        ("cuLibraryGetKernel=500", ["(500)", "cuLibraryGetKernel of "]),
    ],
)
def test_a_failed_launch_names_the_operator(
    fake_vendor: SimulatedVendor, failing: str, output: list[str]
) -> None:
    message = fail_launch(fake_vendor, DL_GPU_SIM_FAIL=failing)
    assert [part for part in output if part not in message] == []
