"""A vendor that executes work only on synchronization, with memory that the host cannot access."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from diopi_proto import ArgumentError, Vendor, VendorError


def test_calls_are_waited_for_by_default(hidden: Vendor) -> None:
    tensor = hidden.tensor(np.zeros(2, np.float32))
    hidden.op.Fill(tensor, 3)
    assert hidden.stream().query()
    assert tensor.numpy().tolist() == [3, 3]


def test_work_may_be_left_enqueued_and_reading_waits(hidden: Vendor) -> None:
    stream = hidden.stream()
    tensor = hidden.tensor(np.zeros(2, np.float32))
    hidden.op.Fill(tensor, 3, stream=stream, synchronize=False)
    assert not stream.query()
    assert tensor.numpy().tolist() == [3, 3]
    assert stream.query()


def test_work_is_done_in_the_order_of_its_stream(hidden: Vendor) -> None:
    stream = hidden.stream()
    tensor, one = hidden.empty((2,)), hidden.tensor(np.ones(2, np.float32))
    hidden.op.Fill(tensor, 1, stream=stream, synchronize=False)
    hidden.op.Add(tensor, tensor, one, 10, stream=stream, synchronize=False)
    hidden.op.Add(tensor, tensor, one, 100, stream=stream)
    assert tensor.numpy().tolist() == [111, 111]


def test_what_enqueued_work_uses_is_kept(hidden: Vendor, counters: type) -> None:
    count = counters(hidden.path)
    out = hidden.empty((2,))
    hidden.op.Add(
        out,
        hidden.tensor(np.ones(2, np.float32)),
        hidden.tensor(np.ones(2, np.float32)),
        1,
        synchronize=False,
    )
    gc.collect()
    assert count.blocks == 3
    hidden.synchronize()
    gc.collect()
    assert count.blocks == 1
    assert out.numpy().tolist() == [2, 2]


def test_a_stream_lives_until_its_work_is_done(hidden: Vendor, counters: type) -> None:
    tensor = hidden.empty((1,))
    hidden.op.Fill(tensor, 5, stream=hidden.stream(), synchronize=False)
    gc.collect()
    assert counters(hidden.path).streams == 1
    assert tensor.numpy().tolist() == [5]
    gc.collect()
    assert counters(hidden.path).streams == 0


def test_closing_waits(hidden: Vendor, counters: type) -> None:
    tensor = hidden.empty((1,))
    stream = hidden.stream()
    hidden.op.Fill(tensor, 5, stream=stream, synchronize=False)
    hidden.close()
    del tensor, stream
    gc.collect()
    count = counters(hidden.path)
    assert (count.blocks, count.streams, count.instances) == (0, 0, 0)


def test_a_stream_serves_its_own_device_and_instance(hidden: Vendor, vendor: Vendor) -> None:
    tensor = hidden.empty((1,), device=1)
    with pytest.raises(ArgumentError, match="on device 0 like"):
        hidden.op.Fill(tensor, 5, stream=hidden.stream(0))
    with pytest.raises(ArgumentError, match="stream of vendor fixture, device 0 cannot"):
        vendor.op.Fill(vendor.empty((1,)), 5, stream=hidden.stream(0))


def test_writing_waits_for_what_reads(hidden: Vendor) -> None:
    source, out = hidden.tensor(np.ones(2, np.float32)), hidden.empty((2,))
    hidden.op.Add(out, source, source, 1, synchronize=False)
    source.copy_from([50, 50])
    assert out.numpy().tolist() == [2, 2]


def test_events_mark_points_of_a_stream(hidden: Vendor) -> None:
    stream, other = hidden.stream(), hidden.stream()
    start, end = hidden.event(timing=True), hidden.event(timing=True)
    assert not start.query()
    tensor = hidden.empty((1,))
    hidden.op.Fill(tensor, 5, stream=stream, synchronize=False)
    start.record(stream)
    end.record()
    end.synchronize()
    assert start.query()
    assert end.elapsed_since(start) == 1.0
    other.wait_event(end)


def test_errors_of_events_are_raised(hidden: Vendor, vendor: Vendor) -> None:
    event = hidden.event()
    with pytest.raises(VendorError, match=r"\[stream_wait_event\] an event was never recorded"):
        hidden.stream().wait_event(event)
    with pytest.raises(VendorError, match=r"\[event_elapsed\]"):
        event.elapsed_since(hidden.event())
    with pytest.raises(ArgumentError, match="cannot be used with another instance"):
        vendor.stream().wait_event(event)
    with pytest.raises(ArgumentError, match="no device 7"):
        hidden.event(7)


def test_events_are_destroyed(hidden: Vendor, counters: type) -> None:
    event = hidden.event()
    assert counters(hidden.path).events == 1
    del event
    gc.collect()
    assert counters(hidden.path).events == 0
