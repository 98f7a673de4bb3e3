"""Drivers and cards of which something is wrong, played by a fake."""

from __future__ import annotations

from pathlib import Path

import pytest

from dl_vendor_rocm.presence import SIMULATOR
from processes import doctor, on_vendor, run

for_cards = pytest.mark.skipif(SIMULATOR.is_file(), reason="this build is for simulated cards")


def test_a_card_is_described(fake: str) -> None:
    (card,) = doctor(DL_ROCM_DRIVER=fake)["devices"]
    assert (card["name"], card["architecture"]) == ("Fake 0", "gfx90a")
    assert card["total_memory"] == 1 << 30


def test_a_card_is_described_by_rocm_5(fake_of_rocm5: str) -> None:
    variables = {"DL_ROCM_DRIVER": fake_of_rocm5, "FAKE_HIP_VERSION": "50221153"}
    (card,) = doctor(**variables)["devices"]
    assert card["architecture"] == "gfx90a"


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FAKE_HIP_CARDS": ""}, "HIP_VISIBLE_DEVICES or ROCR_VISIBLE_DEVICES may hide those"),
        ({"FAKE_HIP_FAIL": "hipInit:101"}, "ROCR_VISIBLE_DEVICES may hide those"),
        ({"FAKE_HIP_FAIL": "hipInit:999"}, "does not start: hipErrorOfTheFake (999)"),
        ({"FAKE_HIP_FAIL": "hipGetDeviceCount:304"}, "rocminfo has to work here first"),
        ({"FAKE_HIP_FAIL": "hipGetDeviceCount:100"}, "/dev/kfd"),
    ],
)
def test_what_is_wrong_is_told(fake: str, variables: dict[str, str], reason: str) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, **variables)
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


@for_cards
def test_an_old_driver_is_told(fake: str) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, FAKE_HIP_VERSION="40500000")
    assert found["device_count"] == 0
    assert "is that of ROCm 4.5, and this library was built for ROCm " in found["no_device"]


@for_cards
@pytest.mark.parametrize(
    ("variables", "shown"),
    [
        ({"FAKE_HIP_CARDS": "gfx803"}, "Fake 0 (gfx803)"),
        (
            {"FAKE_HIP_FAIL": "hipGetDevicePropertiesR0600:1"},
            "Fake 0 (of a kind that the driver does not tell)",
        ),
    ],
)
def test_cards_without_code_are_told(fake: str, variables: dict[str, str], shown: str) -> None:
    found = doctor(DL_ROCM_DRIVER=fake, **variables)
    assert found["device_count"] == 0
    assert f"none that runs on {shown}: install a build for it" in found["no_device"]


@for_cards
def test_cards_without_code_stay_out(fake: str) -> None:
    variables = {"DL_ROCM_DRIVER": fake, "FAKE_HIP_CARDS": "gfx803,gfx90a"}
    assert [card["name"] for card in doctor(**variables)["devices"]] == ["Fake 1"]
    code = """
    x = vendor.tensor(np.arange(4, dtype="float32"))
    print(x.numpy().sum())
    """
    assert on_vendor(code, **variables) == "6.0\n"


def test_a_driver_without_a_function_is_told(old_fake: str) -> None:
    found = doctor(DL_ROCM_DRIVER=old_fake)
    assert found["device_count"] == 0
    assert "has no function hipModuleLaunchKernel" in found["no_device"]
    assert "install a later ROCm" in found["no_device"]


def test_a_useless_driver_is_one_warning_under_torch(old_fake: str) -> None:
    said = run("import torch", DL_ROCM_DRIVER=old_fake)
    assert said.count("has no function hipModuleLaunchKernel") == 1


def test_no_card_is_no_warning_under_torch(fake: str) -> None:
    assert run("import torch", DL_ROCM_DRIVER=fake, FAKE_HIP_CARDS="") == ""


def test_memory_comes_back_from_the_card_that_holds_it(fake: str) -> None:
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
    on_vendor(code, DL_ROCM_DRIVER=fake, FAKE_HIP_CARDS="gfx90a,gfx90a")


def test_launches_happen_on_the_card_of_the_tensors(fake: str, tmp_path: Path) -> None:
    """A module belongs to a card: it is loaded once for each that a kernel of it runs on."""
    code = """
    for device in (1, 0, 1):
        x = vendor.tensor(np.ones(4, "float32"), device=device)
        vendor.op.Relu(vendor.empty((4,), "float32", device=device), x)
        vendor.synchronize(device)
    """
    calls = tmp_path / "calls"
    variables = {"FAKE_HIP_CARDS": "gfx90a,gfx90a", "FAKE_HIP_CALLS": str(calls)}
    on_vendor(code, DL_ROCM_DRIVER=fake, **variables)
    called = calls.read_text(encoding="utf-8").split()
    assert called.count("hipModuleLoadData") == called.count("hipModuleGetFunction") == 2
    assert called.count("hipModuleLaunchKernel") == 3


def test_a_full_card_is_out_of_memory(fake: str) -> None:
    code = """
    try:
        vendor.empty((1 << 30,), "float32")
    except OutOfMemoryError as error:
        print(error)
    """
    assert "hipErrorOutOfMemory (2): out of memory" in on_vendor(code, DL_ROCM_DRIVER=fake)


def test_a_full_card_is_torchs_out_of_memory(fake: str) -> None:
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
        ("hipModuleLaunchKernel:700", ["(700)", "hipModuleLaunchKernel of ", "started again"]),
        ("hipModuleLoadData:209", ["(209)", "hipModuleLoadData of ", "install a build for it"]),
        ("hipModuleGetFunction:500", ["(500)", "hipModuleGetFunction of "]),
    ],
)
def test_a_launch_that_fails_names_the_operator(fake: str, failing: str, said: list[str]) -> None:
    code = """
    x = vendor.tensor(np.ones(4, "float32"))
    try:
        vendor.op.Relu(vendor.empty((4,), "float32"), x)
    except OperatorError as error:
        print(error)
    """
    message = on_vendor(code, DL_ROCM_DRIVER=fake, FAKE_HIP_FAIL=failing)
    assert "diopiRelu" in message
    assert [part for part in said if part not in message] == []


def test_a_lost_card_stays_lost_and_says_where(fake: str) -> None:
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
    message = on_vendor(code, DL_ROCM_DRIVER=fake)
    assert message.count("(719)") == 2
    assert "device_synchronize" in message and "has to be started again" in message


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


def test_a_child_of_a_process_that_used_the_card_may_not(fake: str) -> None:
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
    assert on_vendor(code, DL_ROCM_DRIVER=fake) == "7\n"
