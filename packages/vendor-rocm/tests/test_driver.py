"""Tests of driver and device errors on a fake driver."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver_tests.errors import *  # noqa: F403 - pytest collects them here
from driver_tests.errors import fail_launch
from extension_tests.simulated_vendor import SimulatedVendor

from dl_vendor_rocm.presence import SIMULATOR
from processes import doctor, run, run_on_vendor

for_gpus = pytest.mark.skipif(SIMULATOR.is_file(), reason="this build is for simulated devices")


def test_a_device_is_described(fake: str) -> None:
    (device,) = doctor(DL_ROCM_DRIVER=fake)["devices"]
    assert (device["name"], device["architecture"]) == ("Fake 0", "gfx90a")
    assert device["total_memory"] == 1 << 30


def test_a_device_is_described_by_rocm_5(fake_of_rocm5: str) -> None:
    variables = {"DL_ROCM_DRIVER": fake_of_rocm5, "FAKE_HIP_VERSION": "50221153"}
    (device,) = doctor(**variables)["devices"]
    assert device["architecture"] == "gfx90a"


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FAKE_HIP_DEVICES": ""}, "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide the"),
        ({"FAKE_HIP_FAIL": "hipInit:101"}, "ROCR_VISIBLE_DEVICES may hide the"),
        ({"FAKE_HIP_FAIL": "hipInit:999"}, "does not initialize: hipErrorOfTheFake (999)"),
        ({"FAKE_HIP_FAIL": "hipGetDeviceCount:304"}, "rocminfo must work first"),
        ({"FAKE_HIP_FAIL": "hipGetDeviceCount:100"}, "/dev/kfd"),
    ],
)
def test_driver_errors_are_reported(fake: str, variables: dict[str, str], reason: str) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, **variables)
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


@for_gpus
def test_an_old_driver_is_reported(fake: str) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, FAKE_HIP_VERSION="40500000")
    assert found["device_count"] == 0
    assert "is that of ROCm 4.5, but this library was built for ROCm " in found["no_device"]


@for_gpus
@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({"FAKE_HIP_DEVICES": "gfx803"}, "Fake 0 (gfx803)"),
        (
            {"FAKE_HIP_FAIL": "hipGetDevicePropertiesR0600:1"},
            "Fake 0 (of unknown architecture)",
        ),
    ],
)
def test_devices_without_code_are_reported(
    fake: str, variables: dict[str, str], shown: str
) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, **variables)
    assert found["device_count"] == 0
    assert f"none for {shown}: install a build for it" in found["no_device"]


@for_gpus
def test_devices_without_code_are_excluded(fake: str) -> None:
    variables = {"DL_ROCM_DRIVER": fake, "FAKE_HIP_DEVICES": "gfx803,gfx90a"}
    assert [device["name"] for device in doctor(**variables)["devices"]] == ["Fake 1"]
    code = """
    x = vendor.tensor(np.arange(4, dtype="float32"))
    print(x.numpy().sum())
    """
    assert run_on_vendor(code, **variables) == "6.0\n"


def test_a_driver_without_a_function_is_reported(old_fake: str) -> None:
    found = doctor(DL_ROCM_DRIVER=old_fake)
    assert found["device_count"] == 0
    assert "has no function hipModuleLaunchKernel" in found["no_device"]
    assert "install a later ROCm" in found["no_device"]


def test_an_unusable_driver_is_one_warning_under_torch(old_fake: str) -> None:
    output = run("import torch", DL_ROCM_DRIVER=old_fake)
    assert output.count("has no function hipModuleLaunchKernel") == 1


def test_launches_run_on_the_device_of_the_tensors(fake: str, tmp_path: Path) -> None:
    """A module belongs to a device and is loaded once for each device that runs its kernels."""
    code = """
    for device in (1, 0, 1):
        x = vendor.tensor(np.ones(4, "float32"), device=device)
        vendor.op.Relu(vendor.empty((4,), "float32", device=device), x)
        vendor.synchronize(device)
    """
    calls = tmp_path / "calls"
    variables = {"FAKE_HIP_DEVICES": "gfx90a,gfx90a", "FAKE_HIP_CALLS": str(calls)}
    run_on_vendor(code, DL_ROCM_DRIVER=fake, **variables)
    called = calls.read_text(encoding="utf-8").split()
    assert called.count("hipModuleLoadData") == called.count("hipModuleGetFunction") == 2
    assert called.count("hipModuleLaunchKernel") == 3


@pytest.mark.parametrize(
    ("failing", "output"),
    [
        ("hipModuleLaunchKernel:700", ["(700)", "hipModuleLaunchKernel of ", "must be restarted"]),
        (
            "hipModuleLoadData:209",
            ["(209)", "hipModuleLoadData of ", "install a build for the device"],
        ),
        ("hipModuleGetFunction:500", ["(500)", "hipModuleGetFunction of "]),
    ],
)
def test_a_failed_launch_names_the_operator(
    fake_vendor: SimulatedVendor, failing: str, output: list[str]
) -> None:
    message = fail_launch(fake_vendor, FAKE_HIP_FAIL=failing)
    assert [part for part in output if part not in message] == []
