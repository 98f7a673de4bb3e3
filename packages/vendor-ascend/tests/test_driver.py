"""Tests of errors of the runtime and the device, on the fake runtime."""

from __future__ import annotations

import pytest
from driver_tests.errors import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from processes import doctor, run, run_on_vendor


def test_a_device_is_described(runtime: str) -> None:
    (device,) = doctor(DL_ASCEND_DRIVER=runtime)["devices"]
    assert (device["name"], device["architecture"]) == ("Ascend910B3", "Ascend910B3")
    assert device["total_memory"] == 1 << 30


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FAKE_ACL_DEVICES": "0"}, "ASCEND_RT_VISIBLE_DEVICES may hide"),
        ({"FAKE_ACL_FAIL": "aclInit:500000"}, "does not initialize: ACL_ERROR_INTERNAL_ERROR"),
        ({"FAKE_ACL_FAIL": "aclInit:500000"}, "`npu-smi info` must work first"),
        ({"FAKE_ACL_FAIL": "aclrtGetDeviceCount:207004"}, "ACL_ERROR_RT_NO_DEVICE (207004)"),
        ({"FAKE_ACL_FAIL": "aclrtGetDeviceCount:507033"}, "ACL_ERROR_RT_DEV_SETUP_ERROR (507033)"),
    ],
)
def test_errors_of_the_runtime_are_reported(
    runtime: str, variables: dict[str, str], reason: str
) -> None:
    found = doctor(DL_ASCEND_DRIVER=runtime, **variables)
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


def test_a_runtime_that_others_have_initialized_is_used(runtime: str) -> None:
    variables = {"DL_ASCEND_DRIVER": runtime, "FAKE_ACL_FAIL": "aclrtSetSysParamOpt:207000"}
    code = """
    import cffi, os
    ffi = cffi.FFI()
    ffi.cdef("int aclInit(const char*);")
    assert ffi.dlopen(os.environ["DL_ASCEND_DRIVER"]).aclInit(ffi.NULL) == 0
    print(vendor.device_count)
    """
    assert run_on_vendor(code, **variables) == "1\n"


def test_a_runtime_without_a_function_is_reported(old_runtime: str) -> None:
    found = doctor(DL_ASCEND_DRIVER=old_runtime)
    assert found["device_count"] == 0
    assert "has no function aclrtCreateEventExWithFlag" in found["no_device"]
    assert "it is older than CANN 8.1; install a later CANN" in found["no_device"]


def test_an_unusable_runtime_is_one_warning_under_torch(old_runtime: str) -> None:
    output = run("import torch", DL_ASCEND_DRIVER=old_runtime)
    assert output.count("has no function aclrtCreateEventExWithFlag") == 1


def test_messages_have_only_the_text_of_their_own_failure(fake_vendor: SimulatedVendor) -> None:
    """The query for a thread's device fails on a new thread, as expected, and leaves a text."""
    code = """
    import os, threading
    def fail():
        os.environ["FAKE_ACL_FAIL"] = "aclrtCreateStreamWithConfig:507000"
        try:
            vendor.stream()
        except VendorError as error:
            print(error)
    thread = threading.Thread(target=fail)
    thread.start()
    thread.join()
    """
    message = fake_vendor.run_on_vendor(code)
    assert "ACL_ERROR_RT_INTERNAL_ERROR (507000)" in message
    assert "an injected failure of aclrtCreateStreamWithConfig" in message
    assert "no device is current" not in message


def test_copies_between_any_addresses_of_a_device_arrive(fake_vendor: SimulatedVendor) -> None:
    """The runtime copies only between multiples of 64 bytes."""
    code = """
    from diopi_proto import ffi
    x, y = vendor.tensor(np.arange(200, dtype="uint8")), vendor.tensor(np.zeros(200, "uint8"))
    def copy(to, origin, count, stream):
        at = lambda tensor, offset: ffi.cast("void*", tensor.address + offset)
        vendor.slots.call("memory_copy", 0, at(y, to), at(x, origin), count, 2, stream)
    copy(0, 64, 100, ffi.NULL)
    copy(101, 3, 90, ffi.NULL)
    print(*y.numpy()[[0, 99, 100, 101, 190, 191]])
    """
    assert fake_vendor.run_on_vendor(code) == "64 163 0 3 92 0\n"


def test_events_that_were_never_recorded_count_as_finished(fake_vendor: SimulatedVendor) -> None:
    code = """
    stream, event = vendor.stream(), vendor.event()
    event.synchronize()
    stream.wait_event(event)
    assert event.query()
    event.record(stream)
    stream.synchronize()
    assert event.query()
    """
    fake_vendor.run_on_vendor(code)


def test_the_host_cannot_read_device_memory(fake_vendor: SimulatedVendor) -> None:
    code = """
    import cffi, os
    tensor = vendor.tensor(np.ones(3, np.float32))
    if os.fork() == 0:
        cffi.FFI().cast("float *", tensor.storage.address)[0]
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert int(fake_vendor.run_on_vendor(code)) < 0


def test_hosts_are_asked_for_padding_after_blocks(fake_vendor: SimulatedVendor) -> None:
    assert fake_vendor.run_on_vendor("print(vendor.properties(0).allocation_padding)") == "32\n"
