"""Tests of driver and device errors on a fake driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.errors import *  # noqa: F403 - pytest collects them here
from driver_tests.errors import fail_launch
from extension_tests.simulated_vendor import SimulatedVendor

from processes import doctor, run, run_on_vendor


def test_a_device_is_described(fake: str) -> None:
    (device,) = doctor(DL_CUDA_DRIVER=fake, FAKE_CUDA_CAPABILITY="86")["devices"]
    assert (device["name"], device["architecture"]) == ("Fake 0", "sm_86")
    assert device["total_memory"] == 1 << 30


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        (
            {"FAKE_CUDA_VERSION": "12040"},
            "supports CUDA 12.4, but this library needs one for CUDA 1",
        ),
        ({"FAKE_CUDA_DEVICES": "0"}, "CUDA_VISIBLE_DEVICES may hide the available ones"),
        ({"FAKE_CUDA_CAPABILITY": "61"}, "none for Fake 0 (compute capability 6.1)"),
        ({"FAKE_CUDA_FAIL": "cuInit:999"}, "does not initialize: CUDA_ERROR_OF_THE_FAKE (999)"),
        ({"FAKE_CUDA_FAIL": "cuDeviceGetCount:304"}, "does not initialize"),
    ],
)
def test_driver_errors_are_reported(fake: str, variables: dict[str, str], reason: str) -> None:
    found = doctor(DL_CUDA_DRIVER=fake, **variables)
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


def test_a_driver_without_a_function_is_reported(old_fake: str) -> None:
    found = doctor(DL_CUDA_DRIVER=old_fake)
    assert found["device_count"] == 0
    assert "has no function cuLibraryLoadData" in found["no_device"]
    assert "install a later driver" in found["no_device"]


def test_devices_that_are_too_old_are_excluded(fake: str) -> None:
    variables = {"DL_CUDA_DRIVER": fake, "FAKE_CUDA_DEVICES": "2", "FAKE_CUDA_CAPABILITY": "61,80"}
    assert [device["name"] for device in doctor(**variables)["devices"]] == ["Fake 1"]


def test_an_unusable_driver_is_one_warning_under_torch(fake: str) -> None:
    output = run("import torch", DL_CUDA_DRIVER=fake, FAKE_CUDA_VERSION="12040")
    assert output.count("CUDA 12.4") == 1


def test_launches_run_on_the_device_of_the_tensors(fake: str, tmp_path: Path) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"), device=1)
    vendor.op.Relu(vendor.empty((4,), "float32", device=1), x)
    vendor.synchronize(1)
    """
    calls = tmp_path / "calls"
    run_on_vendor(code, DL_CUDA_DRIVER=fake, FAKE_CUDA_DEVICES="2", FAKE_CUDA_CALLS=str(calls))
    called = calls.read_text(encoding="utf-8").split()
    assert called.count("cuLibraryLoadData") == called.count("cuLaunchKernel") == 1


@pytest.mark.parametrize(
    ("failing", "output"),
    [
        ("cuLaunchKernel:700", ["(700)", "cuLaunchKernel of ", "must be restarted"]),
        ("cuLibraryLoadData:222", ["(222)", "cuLibraryLoadData of ", "install a later driver"]),
        ("cuLibraryLoadData:209", ["(209)", "has no code for the device"]),
        ("cuLibraryGetKernel:500", ["(500)", "cuLibraryGetKernel of "]),
    ],
)
def test_a_failed_launch_names_the_operator(
    fake_vendor: SimulatedVendor, failing: str, output: list[str]
) -> None:
    message = fail_launch(fake_vendor, FAKE_CUDA_FAIL=failing)
    assert [part for part in output if part not in message] == []
