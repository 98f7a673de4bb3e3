from __future__ import annotations

import pytest

from diopi_proto import ffi
from dl_vendor_async_test.control import Control, ControlError, Counters


def test_counters_count_each_device(driver):
    assert driver.control.counters() == Counters(0, 0, 0, 0, 0)
    first = driver.allocate(100)
    driver.allocate(28)
    driver.set(first, 0, 100)
    driver.set(first, 0, 100)
    driver.synchronize()
    assert driver.control.counters() == Counters(2, 2, 2, 2, 128)
    assert driver.control.counters(1) == Counters(0, 0, 0, 0, 0)
    driver.free(first)
    assert driver.control.counters() == Counters(2, 2, 2, 1, 28)


def test_counters_of_destroyed_streams_remain(driver):
    stream = driver.stream()
    driver.set(driver.allocate(8), 0, 8, stream)
    driver.synchronize(stream)
    driver.call("stream_destroy", 0, ffi.cast("void*", stream))
    assert driver.control.counters().items_executed == 1


def test_unknown_stream_cannot_be_held(driver):
    with pytest.raises(ControlError, match="is not a stream of device 0"):
        driver.control.hold(0, 12345)
    with pytest.raises(ControlError, match="is not a stream of device 0"):
        driver.control.release(0, 12345)


def test_instance_of_another_vendor_has_no_control():
    table = ffi.new("dl_vendor_table_t*", {"struct_size": ffi.sizeof("dl_vendor_table_t")})
    vendor = ffi.new("dl_vendor_t*", {"table": table})
    with pytest.raises(ControlError, match="extension 1000"):
        Control(int(ffi.cast("uintptr_t", vendor)))


def test_item_that_waits_for_an_event_is_started_and_not_executed(driver):
    stream, event = driver.stream(), driver.event()
    driver.control.hold(0, stream)
    driver.record(event, stream)
    driver.wait(0, event)
    driver.wait_until_one_started()
    assert driver.control.counters() == Counters(2, 1, 0, 0, 0)
    driver.control.release(0, stream)
    driver.synchronize()
    assert driver.control.counters() == Counters(2, 2, 2, 0, 0)
