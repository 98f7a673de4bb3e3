"""Tests of forks, ends of processes, and several instances in one process."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest

from diopi_proto import ffi
from driver import Driver

FORK = """
import os, sys
from driver import *

driver = Driver()
{before}
child = os.fork()
if child == 0:
    try:
        {inside}
    except StatusError as error:
        print(error.code, error.message)
    sys.stdout.flush()
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
{after}
print("parent ends")
"""

USED = "memory = driver.allocate(8); driver.set(memory, 1, 8)"


@pytest.mark.parametrize(
    "inside",
    [
        "driver.allocate(8)",
        "driver.synchronize()",
        "driver.call('device_synchronize', 0)",
        "driver.read(memory, 8)",
        "driver.get('device_count', 'int32_t')",
        "driver.pinned(8)",
        "driver.event()",
    ],
)
def test_a_forked_child_gets_the_remedy(run_python, inside):
    after = "assert driver.read(memory, 8) == bytes([1] * 8)"
    done = run_python(FORK.format(before=USED, inside=inside, after=after))
    child, parent = done.stdout.splitlines()
    assert child.startswith("5 process ")
    assert "'spawn' or 'forkserver'" in child
    assert parent == "parent ends"
    assert done.returncode == 0, done.stderr


def test_an_operator_in_a_forked_child_gets_the_remedy(run_python):
    inside = (
        # Like a host that does not set the current device.
        "driver.make_current = lambda device: None;"
        "t = Tensor(memory, (1,), 'float64');"
        "print(driver.run('diopiNeg', t, t), driver.last_error())"
    )
    done = run_python(FORK.format(before=USED, inside=inside, after=""))
    assert done.stdout.startswith("1 [diopiNeg] process "), done.stderr
    assert "'spawn' or 'forkserver'" in done.stdout


def test_child_may_destroy_its_copy(run_python):
    inside = "driver.table.destroy(driver.instance); print('destroyed')"
    after = "assert driver.read(memory, 8) == bytes([1] * 8)"
    done = run_python(FORK.format(before=USED, inside=inside, after=after))
    assert done.stdout == "destroyed\nparent ends\n", done.stderr


def test_child_may_use_what_its_parent_did_not(run_python):
    before = "assert driver.get('present', 'int32_t') == 1"
    inside = "m = driver.allocate(8); driver.set(m, 1, 8); print(driver.read(m, 8))"
    done = run_python(FORK.format(before=before, inside=inside, after=""))
    assert done.stdout == f"{bytes([1] * 8)}\nparent ends\n", done.stderr


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("end", ["", "os._exit(0)", "driver.table.destroy(driver.instance)"])
def test_process_ends_with_work_enqueued(run_python, held, end):
    done = run_python(f"""
import os
from driver import *
os.environ["DL_ASYNC_TEST_DELAY_US"] = "100"
driver = Driver()
stream = driver.stream()
event = driver.event()
if {held}:
    driver.control.hold(0, stream)
    driver.control.hold()
memory = driver.allocate(1 << 20)
for value in range(100):
    driver.set(memory, value, 1 << 20, stream)
driver.record(event, stream)
driver.wait(0, event)
driver.set(memory, 1, 8)
print("ends", flush=True)
{end}
""")
    assert done.stdout == "ends\n", done.stderr
    assert done.stderr == ""
    assert done.returncode == 0


@pytest.mark.parametrize("owner", [0, 1])
def test_destroying_drops_work_and_waits_for_nobody(owner):
    with closing(Driver()) as driver:
        stream, event = driver.stream(owner), driver.event(device=owner)
        driver.control.hold(owner, stream)
        driver.record(event, stream, owner)
        # The default streams of both devices wait for the held stream.
        for device in (0, 1):
            driver.wait(0, event, device)
            driver.set(driver.allocate(8, device), 1, 8, device=device)
            driver.wait_until_one_started(device)


def test_instances_are_apart(driver, monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DEVICES", "3")
    with closing(Driver()) as other:
        assert other.get("device_count", "int32_t") == 3
        assert driver.get("device_count", "int32_t") == 2
        memory = driver.tensor(np.ones(8, np.uint8)).address
        driver.control.hold()
        other.set(other.allocate(8), 1, 8)
        other.synchronize()
        assert other.control.counters().live_allocations == 1
    driver.control.release()
    assert driver.read(memory, 8) == b"\1" * 8


def test_no_devices_is_no_error(monkeypatch):
    monkeypatch.setenv("DL_ASYNC_TEST_DEVICES", "0")
    with closing(Driver()) as driver:
        assert driver.get("device_count", "int32_t") == 0
        assert driver.get("present", "int32_t") == 0


def test_properties_stay_inside_the_callers_struct(driver):
    properties = ffi.new("dl_device_properties_t*")
    properties.struct_size = ffi.sizeof("dl_device_properties_t")
    driver.call("device_properties", 0, properties)
    assert ffi.string(properties.name) == b"asynchronous test device"
    assert properties.total_memory == 2 << 30
    short = ffi.new("dl_device_properties_t*")
    short.struct_size = ffi.offsetof("dl_device_properties_t", "major")
    driver.call("device_properties", 0, short)
    assert short.total_memory == 2 << 30
    assert short.major == 0
    assert properties.major == 1
