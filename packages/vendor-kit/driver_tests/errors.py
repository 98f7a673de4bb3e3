"""Tests of memory, errors and processes on a fake driver.

The fixture ``fake_vendor`` of a vendor's conftest.py is the vendor on its fake driver, where the
failure ``"wait"`` makes all waits fail with the error of a lost device.
"""

from __future__ import annotations

from extension_tests.simulated_vendor import DEVICE_NAMES, SimulatedVendor


def test_memory_is_returned_to_its_device(fake_vendor: SimulatedVendor) -> None:
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
    fake_vendor.with_devices(2).run_on_vendor(code)


def test_a_full_device_is_out_of_memory(fake_vendor: SimulatedVendor) -> None:
    code = """
    try:
        vendor.empty((1 << 30,), "float32")
    except OutOfMemoryError as error:
        print(error)
    """
    message = fake_vendor.run_on_vendor(code)
    assert f"({fake_vendor.out_of_memory})" in message and "out of memory" in message


def test_a_full_device_is_torchs_out_of_memory(fake_vendor: SimulatedVendor) -> None:
    code = """
    import torch
    try:
        torch.empty(1 << 30, device="dl")
    except torch.OutOfMemoryError as error:
        print("out of memory", torch.empty(3, device="dl").shape)
    """
    assert "out of memory torch.Size([3])" in fake_vendor.run(code)


def test_a_lost_device_stays_lost_and_names_the_call(fake_vendor: SimulatedVendor) -> None:
    code = f"""
    x = vendor.tensor(np.ones(4, "float32"))
    import os
    os.environ.update({dict(fake_vendor.fails["wait"])!r})
    for call in (vendor.synchronize, x.numpy):
        try:
            call()
        except VendorError as error:
            print(error, flush=True)
    os._exit(0)
    """
    message = fake_vendor.run_on_vendor(code)
    assert message.count(f"({fake_vendor.lost_device})") == 2
    assert "device_synchronize" in message and "must be restarted" in message


def test_two_vendors_are_visible_at_once(fake_vendor: SimulatedVendor) -> None:
    code = f"""
    import torch
    assert torch.dl.get_device_name(0) in {DEVICE_NAMES!r}
    x = torch.arange(6.0).reshape(2, 3)
    there = x.to("dl:0").to("dl:1")
    assert torch.equal(there.cpu(), x) and torch.equal(there.to("dl:0").cpu(), x)
    print(torch.dl.device_count(), (there + 1).cpu().sum().item())
    """
    both = fake_vendor.with_variables(DL_VENDORS=f"{fake_vendor.processes.vendor},cpu")
    assert both.run(code) == "2 21.0\n"


def test_a_forked_child_may_not_use_the_device(fake_vendor: SimulatedVendor) -> None:
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
    assert fake_vendor.run_on_vendor(code) == "7\n"


def test_a_missing_device_is_one_warning_under_torch(fake_vendor: SimulatedVendor) -> None:
    without, vendor = fake_vendor.with_devices(0), fake_vendor.processes.vendor
    # Selected, or another plugin's device would be the answer.
    output = without.processes.run("import torch", DL_VENDORS=vendor, **without.variables)
    assert output.count("RuntimeWarning") == 1
    assert output.count(f"asks for {vendor}, which has no device") == 1


def fail_launch(fake_vendor: SimulatedVendor, **variables: str) -> str:
    """Return the message of an operator whose kernel cannot be launched."""
    code = """
    x = vendor.tensor(np.ones(4, "float32"))
    try:
        vendor.op.Relu(vendor.empty((4,), "float32"), x)
    except OperatorError as error:
        print(error)
    """
    message = fake_vendor.with_variables(**variables).run_on_vendor(code)
    assert "diopiRelu" in message
    return message
