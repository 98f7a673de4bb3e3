"""Device memory is inaccessible to the host, at every address."""

from __future__ import annotations

import signal

import pytest

TOUCH = """
import sys
from diopi_proto import ffi
from driver import Driver

driver = Driver()
memory = {memory}
print("touching", flush=True)
byte = ffi.cast("volatile uint8_t*", memory + {offset})
{touch}
print("survived", flush=True)
"""


@pytest.mark.parametrize("touch", ["value = byte[0]", "byte[0] = 1"])
@pytest.mark.parametrize("offset", [0, 4095, 9999])
def test_touching_device_memory_faults(run_python, touch, offset):
    done = run_python(TOUCH.format(memory="driver.allocate(10_000)", offset=offset, touch=touch))
    assert done.stdout == "touching\n", done.stderr
    assert done.returncode == -signal.SIGSEGV


def test_touching_freed_device_memory_faults(run_python):
    memory = "driver.allocate(10_000); driver.free(memory)"
    done = run_python(TOUCH.format(memory=memory, offset=0, touch="byte[0]"))
    assert done.stdout == "touching\n", done.stderr
    assert done.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("handle", ["driver.stream()", "driver.event()"])
def test_looking_behind_a_handle_faults(run_python, handle):
    done = run_python(TOUCH.format(memory=handle, offset=0, touch="byte[0]"))
    assert done.stdout == "touching\n", done.stderr
    assert done.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("touch", ["value = byte[0]", "byte[0] = 1"])
def test_pinned_memory_is_the_hosts(run_python, touch):
    done = run_python(TOUCH.format(memory="driver.pinned(10_000)", offset=9999, touch=touch))
    assert done.stdout == "touching\nsurvived\n", done.stderr
    assert done.returncode == 0
