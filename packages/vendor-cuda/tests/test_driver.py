"""Tests of driver and device errors on a fake driver."""

from __future__ import annotations

from pathlib import Path

import pytest

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
    said = run("import torch", DL_CUDA_DRIVER=fake, FAKE_CUDA_VERSION="12040")
    assert said.count("CUDA 12.4") == 1


def test_a_missing_device_is_not_a_warning_under_torch(fake: str) -> None:
    assert run("import torch", DL_CUDA_DRIVER=fake, FAKE_CUDA_DEVICES="0") == ""


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
    run_on_vendor(code, DL_CUDA_DRIVER=fake, FAKE_CUDA_DEVICES="2")


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


def test_a_full_device_is_out_of_memory(fake: str) -> None:
    code = """
    try:
        vendor.empty((1 << 30,), "float32")
    except OutOfMemoryError as error:
        print(error)
    """
    assert "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory" in run_on_vendor(code, DL_CUDA_DRIVER=fake)


def test_a_full_device_is_torchs_out_of_memory(fake: str) -> None:
    code = """
    import torch
    try:
        torch.empty(1 << 30, device="dl")
    except torch.OutOfMemoryError as error:
        print("out of memory", torch.empty(3, device="dl").shape)
    """
    assert "out of memory torch.Size([3])" in run(code, DL_CUDA_DRIVER=fake)


@pytest.mark.parametrize(
    ("failing", "said"),
    [
        ("cuLaunchKernel:700", ["(700)", "cuLaunchKernel of ", "must be restarted"]),
        ("cuLibraryLoadData:222", ["(222)", "cuLibraryLoadData of ", "install a later driver"]),
        ("cuLibraryLoadData:209", ["(209)", "has no code for the device"]),
        ("cuLibraryGetKernel:500", ["(500)", "cuLibraryGetKernel of "]),
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
    message = run_on_vendor(code, DL_CUDA_DRIVER=fake, FAKE_CUDA_FAIL=failing)
    assert "diopiRelu" in message
    assert [part for part in said if part not in message] == []


def test_a_lost_device_stays_lost_and_names_the_call(fake: str) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"))
    import os
    os.environ["FAKE_CUDA_FAIL"] = "cuStreamSynchronize:719,cuCtxSynchronize:719"
    for call in (vendor.synchronize, x.numpy):
        try:
            call()
        except VendorError as error:
            print(error, flush=True)
    os._exit(0)
    """
    message = run_on_vendor(code, DL_CUDA_DRIVER=fake)
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
    assert run(code, DL_CUDA_DRIVER=fake, DL_VENDORS="cuda,cpu") == "Fake 0 2 21.0\n"


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
    assert run_on_vendor(code, DL_CUDA_DRIVER=fake) == "7\n"
