"""Streams are captured and replayed through the torch-free host."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import VendorError, ffi, load_vendor
from diopi_proto.host.cabi import constants
from dl_vendor_async_test.plugin import dl_vendor


@pytest.fixture
def vendor():
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_captured_work_runs_with_each_launch_and_not_before(vendor):
    stream = vendor.stream()
    total = vendor.tensor(np.zeros(4, np.float32))
    step = vendor.tensor(np.arange(4, dtype=np.float32))
    with vendor.graphs.capture(stream) as graph:
        assert vendor.graphs.capturing(stream)
        vendor.op.diopiAddInp(total, step, 1, stream=stream, synchronize=False)
        vendor.op.diopiMulInp(total, total, stream=stream, synchronize=False)
    assert not vendor.graphs.capturing(stream)
    assert graph.nodes == 2
    assert total.numpy().tolist() == [0, 0, 0, 0]
    graph.launch(stream)
    assert total.numpy().tolist() == [0, 1, 4, 9]
    graph.launch(synchronize=False)
    graph.launch()
    once = (np.array([0, 1, 4, 9.0]) + np.arange(4)) ** 2
    assert total.numpy().tolist() == ((once + np.arange(4)) ** 2).tolist()


def test_a_graph_keeps_its_tensors(vendor):
    stream = vendor.stream()
    out = vendor.empty((3,), "float32")
    with vendor.graphs.capture(stream) as graph:
        gone = vendor.tensor(np.array([1, -2, 3], np.float32))
        vendor.op.diopiRelu(out, gone, stream=stream, synchronize=False)
        del gone
    graph.launch(stream)
    assert out.numpy().tolist() == [1, 0, 3]


def test_waiting_for_a_capturing_stream_is_refused_and_the_capture_goes_on(vendor):
    stream, other, event = vendor.stream(), vendor.stream(), vendor.event()
    x = vendor.tensor(np.ones(2, np.float32))
    with vendor.graphs.capture(stream) as graph:
        with pytest.raises(VendorError, match="the stream is being captured, and waiting for it"):
            stream.synchronize()
        with pytest.raises(VendorError, match="the stream is being captured, and asking"):
            stream.query()
        queue = stream.pointer_for(vendor._instance, 0)
        with pytest.raises(VendorError, match="captures already"):
            vendor.graphs._slots.call("capture_begin", 0, queue, 0)
        event.record(stream)
        with pytest.raises(VendorError, match="recorded in a capture, which other streams"):
            other.wait_event(event)
        with pytest.raises(VendorError, match="recorded in a capture, which runs nothing"):
            event.synchronize()
        vendor.op.diopiNeg(x, x, stream=stream, synchronize=False)
    assert graph.nodes == 1
    graph.launch(stream)
    assert x.numpy().tolist() == [-1, -1]


def test_an_operator_that_must_wait_is_refused(vendor):
    stream = vendor.stream()
    x = vendor.tensor(np.ones(2, np.float32))
    with (
        pytest.raises(Exception, match="output size is data needs a running stream"),
        vendor.graphs.capture(stream),
    ):
        vendor.op.diopiNonzero(x, stream=stream, synchronize=False)
    assert not vendor.graphs.capturing(stream)
    # The stream runs again.
    vendor.op.diopiNeg(x, x, stream=stream)
    assert x.numpy().tolist() == [-1, -1]


def test_a_failure_in_a_graph_is_reported_and_the_rest_runs(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_FAULTS", "1")
    with load_vendor(dl_vendor().library) as vendor:
        stream = vendor.stream()
        x = vendor.tensor(np.ones(2, np.float32))
        with vendor.graphs.capture(stream) as graph:
            vendor.op.diopiErfinvInp(x, stream=stream, synchronize=False)
            vendor.op.diopiNeg(x, x, stream=stream, synchronize=False)
        with pytest.raises(VendorError, match="diopiErfinvInp"):
            graph.launch(stream)
        assert x.numpy().tolist() == [-1, -1]


def test_a_stream_that_does_not_capture_has_no_end_of_one(vendor):
    stream = vendor.stream()
    slots = vendor.graphs._slots
    with pytest.raises(VendorError, match="does not capture"):
        slots.call("capture_end", 0, stream.pointer_for(vendor._instance, 0), ffi.new("void**"))
    with pytest.raises(VendorError, match="is not a graph of device 0"):
        slots.call("launch", 0, ffi.cast("void*", 12345), ffi.NULL)


def test_a_stream_may_be_destroyed_while_it_captures(driver):
    graphs = _raw_graphs(driver)
    for _ in range(2):  # the second replay starts from the result of the first
        stream = driver.stream()
        driver.make_current(0)
        begun = graphs.capture_begin(driver.instance, 0, ffi.cast("void*", stream), 0)
        assert not begun
        driver.call("stream_destroy", 0, ffi.cast("void*", stream))
    driver.call("device_synchronize", 0)


def _raw_graphs(driver):
    link = driver.table.extensions
    while link.type != constants.DL_EXT_GRAPH:
        link = link.next
    return ffi.cast("dl_graph_extension_t*", link)
