"""Work runs later, in the order of its stream, and in no other order."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from diopi_proto import ffi
from driver import (
    INVALID_ARGUMENT,
    ON_DEVICE,
    TIMING,
    TO_DEVICE,
    Driver,
    StatusError,
    Tensor,
    scalar,
)

FRESH = b"\xff" * 8
LARGE = 1 << 20


@pytest.fixture
def slow(monkeypatch):
    """An instance that delays each item so much that no test passes by timing."""
    monkeypatch.setenv("DL_ASYNC_TEST_DELAY_US", "200000")
    with closing(Driver()) as driver:
        yield driver


def upload(driver: Driver, address: int, value: int, stream: int) -> None:
    driver.set(address, value, 8, stream)


def test_held_work_is_enqueued_and_not_run(driver):
    memory = driver.allocate(8)
    stream = driver.stream()
    driver.control.hold(0, stream)
    upload(driver, memory, 1, stream)
    assert not driver.finished(stream)
    assert driver.read(memory, 8) == FRESH
    driver.control.release(0, stream)
    driver.synchronize(stream)
    assert driver.finished(stream)
    assert driver.read(memory, 8) == b"\1" * 8


def test_operators_return_before_they_run(driver):
    tensor = driver.tensor(np.array([1.0, 2.0], np.float32))
    driver.synchronize()
    before = driver.control.counters().items_executed
    driver.control.hold()
    assert driver.run("diopiAddInpScalar", tensor, scalar(1.0), scalar(1.0)) == 0
    assert not driver.finished()
    assert driver.control.counters().items_executed == before
    driver.control.release()
    assert driver.array(tensor).tolist() == [2.0, 3.0]


def test_default_stream_can_be_held(driver):
    driver.control.hold()
    memory = driver.allocate(8)
    upload(driver, memory, 1, 0)
    assert not driver.finished()
    driver.control.release()
    assert driver.read(memory, 8) == b"\1" * 8


def test_items_of_a_stream_run_in_order(driver):
    memory = driver.allocate(8)
    stream = driver.stream()
    driver.control.hold(0, stream)
    for value in range(100):
        upload(driver, memory, value, stream)
    driver.control.release(0, stream)
    assert driver.read(memory, 8, stream) == bytes([99]) * 8


def test_streams_do_not_wait_for_each_other(driver):
    source, copied = driver.allocate(8), driver.allocate(8)
    first, second = driver.stream(), driver.stream()
    driver.control.hold(0, first)
    upload(driver, source, 1, first)
    driver.copy(copied, source, 8, ON_DEVICE, second)
    # Without an event the copy overtakes the work that it should have waited for.
    assert driver.read(copied, 8, second) == FRESH
    driver.control.release(0, first)
    assert driver.read(source, 8, first) == b"\1" * 8


def test_stream_waits_for_the_event_of_another(driver):
    source, copied = driver.allocate(8), driver.allocate(8)
    first, second = driver.stream(), driver.stream()
    event = driver.event()
    driver.control.hold(0, first)
    upload(driver, source, 1, first)
    driver.record(event, first)
    driver.wait(second, event)
    driver.copy(copied, source, 8, ON_DEVICE, second)
    assert not driver.event_finished(event)
    assert not driver.finished(second)
    assert driver.read(copied, 8) == FRESH
    driver.control.release(0, first)
    assert driver.read(copied, 8, second) == b"\1" * 8
    assert driver.event_finished(event)


def test_wait_keeps_to_the_record_it_saw(driver):
    first, second, third = driver.stream(), driver.stream(), driver.stream()
    event = driver.event()
    driver.record(event, first)
    driver.wait(second, event)
    driver.control.hold(0, third)
    driver.record(event, third)
    driver.synchronize(second)
    assert not driver.event_finished(event)


def test_destroyed_event_is_still_waited_for(driver):
    source, copied = driver.allocate(8), driver.allocate(8)
    first, second = driver.stream(), driver.stream()
    event = driver.event()
    driver.control.hold(0, first)
    upload(driver, source, 1, first)
    driver.record(event, first)
    driver.wait(second, event)
    driver.call("event_destroy", 0, ffi.cast("void*", event))
    driver.copy(copied, source, 8, ON_DEVICE, second)
    driver.control.release(0, first)
    assert driver.read(copied, 8, second) == b"\1" * 8


def test_stream_waits_for_an_event_of_another_device(driver):
    source = driver.allocate(8, device=0)
    target = driver.allocate(8, device=1)
    event = driver.event(device=0)
    driver.control.hold(0)
    upload(driver, source, 1, 0)
    driver.record(event, device=0)
    driver.wait(0, event, device=1)
    driver.set(target, 2, 8, device=1)
    assert not driver.finished(device=1)
    driver.control.release(0)
    assert driver.read(target, 8, device=1) == b"\2" * 8


def test_event_synchronize_waits_for_what_was_before_it_only(driver):
    memory = driver.allocate(8)
    event = driver.event()
    stream, gate = driver.stream(), driver.stream()
    later = driver.event()
    driver.control.hold(0, gate)
    driver.record(later, gate)
    upload(driver, memory, 1, stream)
    driver.record(event, stream)
    driver.wait(stream, later)
    upload(driver, memory, 2, stream)
    driver.call("event_synchronize", 0, ffi.cast("void*", event))
    assert driver.read(memory, 8) == b"\1" * 8
    driver.control.release(0, gate)
    assert driver.read(memory, 8, stream) == b"\2" * 8


def test_event_never_recorded_is_finished(driver):
    event = driver.event()
    assert driver.event_finished(event)
    driver.call("event_synchronize", 0, ffi.cast("void*", event))
    stream = driver.stream()
    driver.wait(stream, event)
    driver.synchronize(stream)


def test_elapsed_follows_the_order_of_the_events(driver):
    start, end = driver.event(TIMING), driver.event(TIMING)
    driver.record(start)
    driver.record(end)
    driver.synchronize()
    assert driver.elapsed(start, end) > 0
    assert driver.elapsed(end, start) == -driver.elapsed(start, end)


def test_elapsed_needs_timing_and_finished_events(driver):
    timed, plain = driver.event(TIMING), driver.event()
    driver.record(timed)
    driver.record(plain)
    driver.synchronize()
    with pytest.raises(StatusError, match="DL_EVENT_TIMING"):
        driver.elapsed(timed, plain)
    with pytest.raises(StatusError, match="never recorded"):
        driver.elapsed(timed, driver.event(TIMING))
    driver.control.hold()
    later = driver.event(TIMING)
    driver.record(later)
    with pytest.raises(StatusError, match="not finished"):
        driver.elapsed(timed, later)


def test_small_pageable_upload_is_taken_at_once(driver):
    data = np.full(8, 1, np.uint8)
    memory = driver.allocate(8)
    driver.control.hold()
    driver.copy(memory, int(data.ctypes.data), 8, TO_DEVICE)
    data[:] = 2
    assert not driver.finished()
    driver.control.release()
    assert driver.read(memory, 8) == b"\1" * 8


def test_large_pageable_upload_waits(slow):
    data = np.full(LARGE, 1, np.uint8)
    memory = slow.allocate(LARGE)
    slow.copy(memory, int(data.ctypes.data), LARGE, TO_DEVICE)
    assert slow.finished()


def test_pageable_download_waits(slow):
    memory = slow.allocate(8)
    upload(slow, memory, 1, 0)
    assert slow.read(memory, 8) == b"\1" * 8


def test_pinned_upload_reads_the_memory_when_it_runs(driver):
    pinned, memory = driver.pinned(LARGE), driver.allocate(LARGE)
    view = np.frombuffer(ffi.buffer(ffi.cast("char*", pinned), LARGE), np.uint8)
    view[:] = 1
    driver.control.hold()
    driver.copy(memory, pinned, LARGE, TO_DEVICE)
    view[:] = 2
    driver.control.release()
    assert driver.read(memory, LARGE) == b"\2" * LARGE


def test_delay_holds_back_each_item(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DELAY_US", "60000000")
    with closing(Driver()) as driver:
        memory = driver.allocate(8)
        upload(driver, memory, 1, 0)
        assert not driver.finished()
        assert driver.control.counters().items_executed == 0


def test_destroyed_stream_finishes_its_work(driver):
    memory = driver.allocate(8)
    stream = driver.stream()
    driver.control.hold(0, stream)
    upload(driver, memory, 1, stream)
    driver.call("stream_destroy", 0, ffi.cast("void*", stream))
    driver.call("device_synchronize", 0)
    assert driver.read(memory, 8) == b"\1" * 8


def test_device_synchronize_waits_for_all_streams(slow):
    streams = [0, slow.stream(), slow.stream()]
    for stream in streams:
        upload(slow, slow.allocate(8), 1, stream)
    slow.call("device_synchronize", 0)
    assert [slow.finished(stream) for stream in streams] == [True] * 3


def test_destroyed_stream_is_refused(driver):
    stream = driver.stream()
    driver.call("stream_destroy", 0, ffi.cast("void*", stream))
    with pytest.raises(StatusError, match="is not a stream of device 0") as error:
        driver.synchronize(stream)
    assert error.value.code == INVALID_ARGUMENT


def test_stream_of_another_device_is_refused(driver):
    stream = driver.stream(device=1)
    with pytest.raises(StatusError, match="is not a stream of device 0"):
        driver.synchronize(stream, device=0)


def test_event_of_another_device_is_not_recorded(driver):
    event = driver.event(device=1)
    with pytest.raises(StatusError, match="belongs to device 1"):
        driver.record(event, device=0)


def test_sizes_and_strides_may_die_with_the_call(driver):
    source = driver.tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    turned = Tensor(source.address, (3, 2), "float32", strides=(1, 3))
    out = driver.empty((3, 2), "float32")
    driver.control.hold()
    assert driver.run("diopiNeg", out, turned) == 0
    for dead in (turned, out):
        dead.sizes[0] = dead.sizes[1] = dead.strides[0] = dead.strides[1] = 1 << 40
        ffi.memmove(dead.prefix, bytes(ffi.sizeof("dl_tensor_prefix_t")), 32)
    driver.control.release()
    assert driver.array(out).tolist() == [[0, -3], [-1, -4], [-2, -5]]
