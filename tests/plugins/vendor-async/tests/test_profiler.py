"""Activities are recorded in the device's time and linked to the host's."""

from __future__ import annotations

import time

import numpy as np
import pytest

from diopi_proto import VendorError, ffi, load_vendor
from dl_vendor_async_test.plugin import dl_vendor


@pytest.fixture
def vendor():
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def stream_number(vendor, stream):
    return int(ffi.cast("uintptr_t", stream.pointer_for(vendor._instance, 0)))


def test_activities_have_names_kinds_bytes_and_order(vendor):
    x = vendor.tensor(np.ones(8, np.float32))
    vendor.op.diopiExp(x, x)  # before the start: not recorded
    vendor.profiler.start()
    stream = vendor.stream()
    assert vendor.profiler.correlate(7) == 0
    vendor.op.diopiNeg(x, x, stream=stream)
    assert vendor.profiler.correlate(0) == 7
    vendor.op.diopiRelu(x, x)
    x.numpy()
    vendor.profiler.stop()
    vendor.op.diopiExp(x, x)  # after the stop
    found, dropped = vendor.profiler.collect()
    assert dropped == 0
    shown = [(a.name, a.kind, a.correlation, a.bytes) for a in found]
    assert shown == [
        ("diopiNeg", "kernel", 7, 0),
        ("diopiRelu", "kernel", 0, 0),
        ("memory_copy", "copy", 0, 32),
    ]
    assert found[0].stream == stream_number(vendor, stream)
    assert found[1].stream == 0
    assert all(a.device == 0 and a.start <= a.end for a in found)
    assert found[0].end <= found[1].start <= found[1].end <= found[2].start
    assert vendor.profiler.collect() == ([], 0)


def test_the_clock_ties_device_time_to_the_hosts(vendor):
    x = vendor.tensor(np.ones(8, np.float32))
    vendor.profiler.start()
    before = time.monotonic_ns()
    vendor.op.diopiNeg(x, x)
    after = time.monotonic_ns()
    vendor.profiler.stop()
    clock = vendor.profiler.clock()
    (only,), _ = vendor.profiler.collect()
    # The device's clock began with the device: its raw times differ from the host's times.
    assert only.start < before
    assert clock.uncertainty >= 0
    slack = clock.uncertainty
    assert before - slack <= clock.host_time(only.start)
    assert clock.host_time(only.end) <= after + slack


def test_a_graph_is_an_activity_around_its_own(vendor):
    stream = vendor.stream()
    x = vendor.tensor(np.ones(8, np.float32))
    with vendor.graphs.capture(stream) as graph:
        vendor.op.diopiNeg(x, x, stream=stream, synchronize=False)
    vendor.profiler.start()
    graph.launch(stream)
    vendor.profiler.stop()
    (whole, part), _ = vendor.profiler.collect()
    assert (whole.name, whole.kind) == ("graph_launch", "graph")
    assert (part.name, part.kind) == ("diopiNeg", "kernel")
    assert whole.start <= part.start
    assert part.end <= whole.end


def test_what_has_no_room_is_counted(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_ACTIVITIES", "2")
    with load_vendor(dl_vendor().library) as vendor:
        x = vendor.tensor(np.ones(8, np.float32))
        vendor.profiler.start()
        for _ in range(5):
            vendor.op.diopiNeg(x, x)
        vendor.profiler.stop()
        found, dropped = vendor.profiler.collect()
        assert (len(found), dropped) == (2, 3)


def test_devices_are_recorded_apart_and_once(vendor):
    vendor.profiler.start(1)
    with pytest.raises(VendorError, match="device 1 is being recorded already"):
        vendor.profiler.start(1)
    with pytest.raises(VendorError, match="device 0 is not being recorded"):
        vendor.profiler.stop(0)
    x = vendor.tensor(np.ones(8, np.float32), device=0)
    vendor.op.diopiNeg(x, x)
    vendor.profiler.stop(1)
    assert vendor.profiler.collect(1) == ([], 0)
    assert vendor.profiler.collect(0) == ([], 0)
