"""Tests of driver and device errors on a fake driver."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    said = run("import torch", DL_ROCM_DRIVER=old_fake)
    assert said.count("has no function hipModuleLaunchKernel") == 1


def test_a_missing_device_is_not_a_warning_under_torch(fake: str) -> None:
    assert run("import torch", DL_ROCM_DRIVER=fake, FAKE_HIP_DEVICES="") == ""


def test_memory_is_returned_to_its_device(fake: str) -> None:
    code = """
    assert (vendor.device_count, vendor.synchronous, vendor.host_accessible) == (2, False, False)
    for device in (0, 1):
        before, total = vendor.memory_info(device)
        tensor = vendor.tensor(np.arange(1 << 16, dtype="int64"), device=device)
        assert vendor.memory_info(device)[0] < before <= total
        assert vendor.memory_info(1 - device)[0] == vendor.memory_info(1 - device)[1]
        assert (tensor.numpy() == np.arange(1 << 16)).all()
        del tensor
    stream, event = vendor.stream(1, priority=-1), vendor.event(1, timing=True)
    event.record(stream)
    event.synchronize()
    """
    run_on_vendor(code, DL_ROCM_DRIVER=fake, FAKE_HIP_DEVICES="gfx90a,gfx90a")


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


def test_a_full_device_is_out_of_memory(fake: str) -> None:
    code = """
    try:
        vendor.empty((1 << 30,), "float32")
    except OutOfMemoryError as error:
        print(error)
    """
    assert "hipErrorOutOfMemory (2): out of memory" in run_on_vendor(code, DL_ROCM_DRIVER=fake)


def test_a_full_device_is_torchs_out_of_memory(fake: str) -> None:
    code = """
    import torch
    try:
        torch.empty(1 << 30, device="dl")
    except torch.OutOfMemoryError as error:
        print("out of memory", torch.empty(3, device="dl").shape)
    """
    said = run(code, DL_ROCM_DRIVER=fake, DL_VENDORS="rocm")
    assert "out of memory torch.Size([3])" in said


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("hipModuleLaunchKernel:700", ["(700)", "hipModuleLaunchKernel of ", "must be restarted"]),
        (
            "hipModuleLoadData:209",
            ["(209)", "hipModuleLoadData of ", "install a build for the device"],
        ),
        ("hipModuleGetFunction:500", ["(500)", "hipModuleGetFunction of "]),
    ],
)
def test_a_failed_launch_names_the_operator(fake: str, failing: str, said: list[str]) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"))
    try:
        vendor.op.Relu(vendor.empty((4,), "float32"), x)
    except OperatorError as error:
        print(error)
    """
    message = run_on_vendor(code, DL_ROCM_DRIVER=fake, FAKE_HIP_FAIL=failing)
    assert "diopiRelu" in message
    assert [part for part in said if part not in message] == []


def test_a_lost_device_stays_lost_and_names_the_call(fake: str) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"))
    import os
    os.environ["FAKE_HIP_FAIL"] = "hipStreamSynchronize:719,hipDeviceSynchronize:719"
    for call in (vendor.synchronize, x.numpy):
        try:
            call()
        except VendorError as error:
            print(error, flush=True)
    os._exit(0)
    """
    message = run_on_vendor(code, DL_ROCM_DRIVER=fake)
    assert message.count("(719)") == 2
    assert "device_synchronize" in message and "must be restarted" in message


def test_two_vendors_are_visible_at_once(fake: str) -> None:
    code = """
    import torch
    names = [torch.dl.get_device_name(i) for i in range(torch.dl.device_count())]
    x = torch.arange(6.0).reshape(2, 3)
    there = x.to("dl:0").to("dl:1")
    assert torch.equal(there.cpu(), x) and torch.equal(there.to("dl:0").cpu(), x)
    print(names[0], len(names), (there + 1).cpu().sum().item())
    """
    assert run(code, DL_ROCM_DRIVER=fake, DL_VENDORS="rocm,cpu") == "Fake 0 2 21.0\n"


def test_a_forked_child_may_not_use_the_device(fake: str) -> None:
    code = """
    import os
    vendor.tensor(np.ones(4, "float32"))
    child = os.fork()
    if child == 0:
        try:
            vendor.empty((4,), "float32")
        except VendorError as error:
            os._exit(7 if "was forked" in str(error) else 1)
        os._exit(2)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """
    assert run_on_vendor(code, DL_ROCM_DRIVER=fake) == "7\n"
