"""Tests of errors of the runtime and the device, on the fake runtime."""

from __future__ import annotations

import pytest
from driver_tests.errors import *  # noqa: F403 - pytest collects them here
from extension_tests.simulated_vendor import SimulatedVendor

from processes import doctor, run


def test_a_device_is_described(runtime: str) -> None:
    (device,) = doctor(DL_CAMBRICON_DRIVER=runtime)["devices"]
    assert (device["name"], device["architecture"]) == ("Cambricon MLU (ISA 592)", "mtp_592")
    assert device["total_memory"] == 1 << 30


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FAKE_CNRT_DEVICES": "0"}, "MLU_VISIBLE_DEVICES may hide"),
        ({"FAKE_CNRT_FAIL": "cnrtGetDeviceCount:100004"}, "cnrtErrorNoDevice (100004): no device"),
        ({"FAKE_CNRT_FAIL": "cnrtGetDeviceCount:100002"}, "`cnmon` must work first"),
    ],
)
def test_errors_of_the_runtime_are_reported(
    runtime: str, variables: dict[str, str], reason: str
) -> None:
    found = doctor(DL_CAMBRICON_DRIVER=runtime, **variables)
    assert (found["device_count"], found["error"], found["flaws"]) == (0, "", [])
    assert reason in found["no_device"]


def test_a_runtime_without_a_function_is_reported(old_runtime: str) -> None:
    found = doctor(DL_CAMBRICON_DRIVER=old_runtime)
    assert found["device_count"] == 0
    assert "has no function cnrtMemcpyAsync_V2" in found["no_device"]
    assert "install Neuware 1.13 or later" in found["no_device"]


def test_an_unusable_runtime_is_one_warning_under_torch(old_runtime: str) -> None:
    output = run("import torch", DL_CAMBRICON_DRIVER=old_runtime)
    assert output.count("has no function cnrtMemcpyAsync_V2") == 1


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
