from __future__ import annotations

import threading
from contextlib import closing

import numpy as np
import pytest

from diopi_proto import ffi
from driver import (
    ERROR_OCCURRED,
    INVALID_ARGUMENT,
    SUCCESS,
    TO_HOST,
    Driver,
    StatusError,
    Tensor,
    check,
)

FAULTS = {"diopiErfinv", "diopiErfinvInp", "diopiPolar"}
TRUNC = 1
# Slots that take a device, and their further arguments.
NAMING_A_DEVICE = {
    "device_properties": "out",
    "device_synchronize": "",
    "memory_allocate": "bytes out",
    "memory_free": "memory",
    "memory_info": "out out",
    "memory_copy": "memory memory bytes kind stream",
    "memory_set": "memory value bytes stream",
    "stream_create": "priority out",
    "stream_destroy": "stream",
    "stream_synchronize": "stream",
    "stream_query": "stream out",
    "stream_wait_event": "stream event",
    "event_create": "flags out",
    "event_destroy": "event",
    "event_record": "event stream",
    "event_synchronize": "event",
    "event_query": "event out",
    "event_elapsed": "start end out",
}


@pytest.fixture
def faulty(monkeypatch):
    """An instance that lists the failing operators."""
    monkeypatch.setenv("DL_ASYNC_TEST_FAULTS", "1")
    with closing(Driver()) as driver:
        yield driver


def test_faults_are_listed_only_when_asked_for(driver, faulty):
    assert set(faulty.operators()) - set(driver.operators()) == FAULTS


def test_operator_that_reports_an_error(faulty):
    tensor = faulty.tensor(np.ones(2))
    assert faulty.run("diopiErfinv", tensor, tensor) == ERROR_OCCURRED
    assert "refuses" in faulty.last_error()
    assert faulty.run("diopiNeg", tensor, tensor) == SUCCESS
    assert faulty.last_error() == ""


def test_operator_that_throws(faulty):
    tensor = faulty.tensor(np.ones(2))
    assert faulty.run("diopiPolar", tensor, tensor, tensor) == ERROR_OCCURRED
    assert faulty.last_error().startswith("[diopiPolar] throws")


def synchronize_stream(driver):
    driver.synchronize()


def synchronize_device(driver):
    driver.call("device_synchronize", 0)


def synchronize_event(driver):
    event = driver.event()
    driver.record(event)
    driver.call("event_synchronize", 0, ffi.cast("void*", event))


@pytest.mark.parametrize("wait", [synchronize_stream, synchronize_device, synchronize_event])
def test_failure_on_the_device_surfaces_once_at_synchronisation(faulty, wait):
    assert faulty.run("diopiErfinvInp", faulty.tensor(np.ones(2))) == SUCCESS
    with pytest.raises(StatusError, match=r"\[diopiErfinvInp\] fails on the device"):
        wait(faulty)
    wait(faulty)


def test_failure_on_the_device_surfaces_at_a_waiting_copy(faulty):
    tensor = faulty.tensor(np.ones(2))
    assert faulty.run("diopiErfinvInp", tensor) == SUCCESS
    with pytest.raises(StatusError, match="diopiErfinvInp"):
        faulty.array(tensor)
    assert faulty.array(tensor).tolist() == [1.0, 1.0]


def test_failure_on_one_device_is_not_anothers(faulty):
    tensor = faulty.tensor(np.ones(2))
    assert faulty.run("diopiErfinvInp", tensor) == SUCCESS
    faulty.call("device_synchronize", 1)
    with pytest.raises(StatusError, match="diopiErfinvInp"):
        faulty.call("device_synchronize", 0)


def test_first_failure_is_the_one_reported(faulty):
    tensor = faulty.tensor(np.ones(2, np.int64))
    zero = faulty.tensor(np.zeros(2, np.int64))
    assert faulty.run("diopiDiv", tensor, tensor, zero, TRUNC) == SUCCESS
    assert faulty.run("diopiErfinvInp", tensor) == SUCCESS
    with pytest.raises(StatusError, match=r"\[diopiDiv\] integer division by zero"):
        faulty.synchronize()


def test_work_after_a_failure_still_runs(faulty):
    memory = faulty.allocate(8)
    assert faulty.run("diopiErfinvInp", faulty.tensor(np.ones(2))) == SUCCESS
    faulty.set(memory, 1, 8)
    with pytest.raises(StatusError):
        faulty.synchronize()
    assert faulty.read(memory, 8) == b"\1" * 8


def test_tensor_outside_device_memory_is_refused(driver):
    array = np.ones(2)
    host = Tensor(int(array.ctypes.data), (2,), "float64")
    assert driver.run("diopiNeg", host, host) == ERROR_OCCURRED
    assert "not inside one live allocation" in driver.last_error()
    assert driver.last_error().startswith("[diopiNeg]")


def test_tensor_larger_than_its_allocation_is_refused(driver):
    tensor = Tensor(driver.allocate(16), (2,), "float64", strides=(2,))
    assert driver.run("diopiNeg", tensor, tensor) == ERROR_OCCURRED
    assert "24 bytes" in driver.last_error()


def test_tensor_of_another_device_is_refused(driver):
    tensor = Tensor(driver.allocate(16, device=1), (2,), "float64", device=1)
    assert driver.run("diopiNeg", tensor, tensor, device=0) == ERROR_OCCURRED
    assert "device 1, not on device 0" in driver.last_error()
    assert driver.run("diopiNeg", tensor, tensor, device=1) == SUCCESS


def test_unknown_device_is_refused(driver):
    with pytest.raises(StatusError, match="device 2 does not exist") as error:
        driver.allocate(8, device=2)
    assert error.value.code == INVALID_ARGUMENT


def test_unknown_copy_kind_is_refused(driver):
    memory = driver.allocate(8)
    with pytest.raises(StatusError, match="copy kind 3"):
        driver.copy(memory, memory, 8, TO_HOST + 2)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DL_ASYNC_TEST_DEVICES", "two"),
        ("DL_ASYNC_TEST_DEVICES", "-1"),
        ("DL_ASYNC_TEST_MEMORY", "1"),
        ("DL_ASYNC_TEST_DELAY_US", "5ms"),
        ("DL_ASYNC_TEST_FAULTS", "2"),
        ("DL_ASYNC_TEST_PINNED", "0"),
        ("DL_ASYNC_TEST_FORGETS", "yes"),
    ],
)
def test_bad_variable_is_named(monkeypatch, name, value):
    monkeypatch.setenv(name, value)
    with pytest.raises(StatusError, match=f"{name}='{value}' must be") as error:
        Driver()
    assert error.value.code == INVALID_ARGUMENT


def test_a_device_that_is_not_current_is_refused(driver):
    def elsewhere(body):
        result = []
        thread = threading.Thread(target=lambda: result.append(body()))
        thread.start()
        thread.join()
        return result[0]

    def allocate(device):
        return driver.table.memory_allocate(driver.instance, device, 8, ffi.new("void**"))

    driver.make_current(1)
    check("memory_allocate", allocate(1))
    with pytest.raises(StatusError, match="device 0 is not the thread's current one"):
        check("memory_allocate", allocate(0))
    with pytest.raises(StatusError, match="device 1 is not the thread's current one"):
        check("memory_allocate", elsewhere(lambda: allocate(1)))


@pytest.mark.parametrize("slot", sorted(NAMING_A_DEVICE))
def test_every_slot_notices_that_its_device_is_not_current(driver, slot):
    stream, event, memory = driver.stream(1), driver.event(device=1), driver.allocate(8, 1)
    out = ffi.new("char[1024]")
    handles = {"stream": stream, "event": event, "memory": memory, "start": event, "end": event}
    kind = ffi.typeof(getattr(driver.table, slot))
    names = NAMING_A_DEVICE[slot].split()
    arguments = [
        ffi.cast(type_, handles.get(name, 8)) if name != "out" else ffi.cast(type_, out)
        for type_, name in zip(kind.args[2:], names, strict=True)
    ]
    driver.make_current(0)
    with pytest.raises(StatusError, match="device 1 is not the thread's current one"):
        check(slot, getattr(driver.table, slot)(driver.instance, 1, *arguments))


def test_no_slot_that_names_a_device_is_left_out():
    def names_a_device(kind):
        function = kind.item if kind.kind == "pointer" else kind
        return function.kind == "function" and ffi.typeof("int32_t") in function.args[1:2]

    slots = ffi.typeof("dl_vendor_table_t").fields
    naming = {name for name, field in slots if names_a_device(field.type)}
    assert naming == {*NAMING_A_DEVICE, "device_set"}


def test_an_operator_notices_that_its_device_is_not_current(driver, monkeypatch):
    tensor = driver.tensor(np.ones(2))
    driver.make_current(1)
    monkeypatch.setattr(driver, "make_current", lambda device: None)
    assert driver.run("diopiNeg", tensor, tensor) == ERROR_OCCURRED
    assert "device 0 is not the thread's current one" in driver.last_error()


def test_a_vendor_that_forgets_the_device_is_noticed(monkeypatch):
    # An instance may get the address of an earlier one, whose device was current.
    with closing(Driver()) as earlier:
        earlier.allocate(8)
    monkeypatch.setenv("DL_ASYNC_TEST_FORGETS", "1")
    with closing(Driver()) as driver, pytest.raises(StatusError, match="not the thread's current"):
        driver.allocate(8)
