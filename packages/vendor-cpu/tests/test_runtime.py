"""Devices, memory, streams and events."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from diopi_proto import (
    ArgumentError,
    OperatorError,
    OutOfMemoryError,
    Vendor,
    VendorError,
    load_vendor,
)
from dl_vendor_cpu.levels import ARCHITECTURES, NATIVE
from dl_vendor_cpu.plugin import dl_vendor


@pytest.fixture
def two_devices(monkeypatch: pytest.MonkeyPatch) -> Iterator[Vendor]:
    monkeypatch.setenv("DL_CPU_DEVICES", "2")
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_capabilities(vendor: Vendor) -> None:
    assert vendor.name == "cpu"
    assert vendor.version == dl_vendor().version
    assert vendor.present
    assert vendor.host_accessible
    assert vendor.synchronous
    assert vendor.accepts_any_host_pointer
    assert vendor.is_reference


def test_properties_describe_the_processor(vendor: Vendor) -> None:
    properties = vendor.properties(0)
    assert properties.name
    assert properties.total_memory > 1 << 28
    assert properties.multiprocessor_count >= 1
    assert {"float32", "float64", "float16", "bfloat16", "bool", "int64"} <= properties.dtypes
    assert properties.architecture in {*ARCHITECTURES.values(), NATIVE}


def test_memory_info(vendor: Vendor) -> None:
    free, total = vendor.memory_info(0)
    assert 0 < free <= total


def test_one_device_by_default(vendor: Vendor) -> None:
    assert vendor.device_count == 1
    with pytest.raises(ArgumentError):
        vendor.empty((2,), device=1)


def test_environment_sets_the_number_of_devices(two_devices: Vendor) -> None:
    assert two_devices.device_count == 2
    a = two_devices.tensor(np.ones(3, np.float32), device=1)
    out = two_devices.empty((3,), "float32", device=1)
    two_devices.op.Add(out, a, a, 1)
    assert out.numpy().tolist() == [2.0, 2.0, 2.0]


@pytest.mark.parametrize("value", ["-1", "65", "many", "1.5"])
def test_senseless_number_of_devices_is_a_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, value: str
) -> None:
    monkeypatch.setenv("DL_CPU_DEVICES", value)
    with load_vendor(dl_vendor().library) as opened:
        assert opened.device_count == 1
    assert "DL_CPU_DEVICES" in caplog.text


def test_no_devices_is_not_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DL_CPU_DEVICES", "0")
    with load_vendor(dl_vendor().library) as opened:
        assert opened.device_count == 0


def test_two_instances_do_not_share_devices(vendor: Vendor, two_devices: Vendor) -> None:
    assert (vendor.device_count, two_devices.device_count) == (1, 2)


@pytest.mark.parametrize("bytes_", [1, 100, 5 << 20])
def test_memory_is_aligned(vendor: Vendor, bytes_: int) -> None:
    assert vendor.empty((bytes_,), "uint8").storage.address % 64 == 0


def test_impossible_allocation_is_out_of_memory(vendor: Vendor) -> None:
    with pytest.raises(OutOfMemoryError):
        vendor.empty((1 << 60,), "uint8")


def test_streams_finish_at_once(vendor: Vendor) -> None:
    stream = vendor.stream(0, priority=-1)
    event = vendor.event(0)
    event.record(stream)
    stream.wait_event(event)
    assert stream.query()
    stream.synchronize()
    vendor.synchronize(0)


def test_events_tell_the_time_between(vendor: Vendor) -> None:
    first, last = vendor.event(0, timing=True), vendor.event(0, timing=True)
    first.record()
    last.record()
    assert last.elapsed_since(first) >= 0


def test_time_needs_events_with_timing(vendor: Vendor) -> None:
    first, last = vendor.event(0), vendor.event(0, timing=True)
    first.record()
    last.record()
    with pytest.raises((VendorError, ArgumentError), match=r"timing|TIMING"):
        last.elapsed_since(first)


def test_error_text_is_that_of_the_last_operator(vendor: Vendor) -> None:
    a = vendor.empty((2, 3), "float32")
    with pytest.raises(OperatorError, match=r"\[diopiSoftmax\]"):
        vendor.op.Softmax(a, a, 9)
    with pytest.raises(OperatorError, match=r"\[diopiTril\]"):
        vendor.op.Tril(vendor.empty((3,)), vendor.empty((3,)), 0)
