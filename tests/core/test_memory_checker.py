"""DL_MEM_CHECK: memory errors are found, and the line that caused them is named."""

from __future__ import annotations

import re

import pytest

from .processes import RUNS_ONCE, output, run

pytestmark = RUNS_ONCE

CHECK = {"DL_VENDORS": "cpu", "DL_MEM_CHECK": "1", "DL_MEM_CHECK_ENABLE_BACKTRACE": "1"}

PREPARE = """
import cffi, torch
ffi = cffi.FFI()

def bytes_at(address, count):
    return ffi.buffer(ffi.cast("char*", address), count)

"""


def report(code: str, **variables: str) -> str:
    """Return the stderr of a process that exits normally."""
    done = run(PREPARE + code, **{**CHECK, **variables})
    assert done.returncode == 0, done.stderr
    return done.stderr


def test_right_programs_are_not_blamed() -> None:
    code = """
model = torch.nn.Sequential(torch.nn.Linear(7, 5), torch.nn.GELU(), torch.nn.Linear(5, 3)).to("dl")
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 7, device="dl")).square().mean().backward()
    optimizer.step()
side = torch.dl.Stream()
with torch.dl.stream(side):
    y = torch.ones(1000, device="dl").cumsum(0)
y.record_stream(torch.dl.current_stream())
assert torch.dl.check_memory() == []
import os, sys
sys.stdout.flush(), sys.stderr.flush()
os._exit(0)  # autograd's thread
"""
    for vendor in ("cpu", "async"):
        assert "memory check" not in report(code, DL_VENDORS=vendor, DL_MEM_CHECK="2")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        (40, "0 bytes after the end"),
        (100, "60 bytes after the end"),
        (-4, "4 bytes before the start"),
    ],
)
def test_a_write_out_of_bounds(place: int, said: str) -> None:
    said_by_free = report(f"""
def guilty_of_the_size():
    return torch.zeros(10, device="dl")

x = guilty_of_the_size()
bytes_at(x.data_ptr() + {place}, 1)[0] = b"!"
del x
""")
    assert f"[dl memory check] out of bounds: {said} of block" in said_by_free
    assert "of 40 bytes" in said_by_free
    assert re.search(r"allocated at\n(.*\n)*?.* in guilty_of_the_size", said_by_free)


def test_a_write_out_of_bounds_is_reported_with_its_operator() -> None:
    said = report(
        """
@torch.library.custom_op("test::overrun", mutates_args={"x"}, device_types="dl")
def overrun(x: torch.Tensor) -> None:
    bytes_at(x.data_ptr() + 4 * x.numel(), 1)[0] = b"!"

def innocent(x):
    return x + 1

def guilty(x):
    overrun(x)

x = torch.zeros(10, device="dl")
innocent(x)
guilty(x)
innocent(x)
del x
""",
        DL_MEM_CHECK="2",
    )
    assert said.count("[dl memory check]") == 1, "once, though x is looked at again"
    assert "was written by test::overrun" in said
    written = said[said.index("written at\n") : said.index("allocated at\n")]
    assert " in guilty\n" in written and "innocent" not in written


def test_a_write_after_the_free() -> None:
    said = report("""
def make():
    return torch.zeros(10, device="dl")

def drop(tensors):
    tensors.clear()

tensors = [make()]
address = tensors[0].data_ptr()
drop(tensors)
assert torch.dl.check_memory() == []
bytes_at(address + 8, 1)[0] = b"!"
found, = torch.dl.check_memory()
assert torch.dl.check_memory() == [found], "each is reported once"
""")
    assert "use after free: byte 8 of block" in said
    assert re.search(
        r"allocated at\n(.*\n)*?.* in make\n(.*\n)*?  freed at\n(.*\n)*?.* in drop", said
    )


def test_what_is_freed_and_what_is_new_reads_as_nan() -> None:
    report("""
x = torch.empty(10, device="dl")
assert x.isnan().all()
address = x.data_ptr()
x.zero_()
del x
assert bytes_at(address, 40)[:] == b"\\xfd" * 40
""")


def test_a_double_free() -> None:
    said = output(
        PREPARE
        + """
def first():
    torch.dl.caching_allocator_delete(memory)

memory = torch.dl.caching_allocator_alloc(100)
first()
try:
    torch.dl.caching_allocator_delete(memory)
except ValueError as error:
    print(error)
""",
        **CHECK,
    )
    assert "[caching_allocator_delete] double free" in said
    assert re.search(r"freed at\n(.*\n)*?.* in first", said)


def test_a_leak() -> None:
    said = report("""
import ctypes

def leak():
    return torch.zeros(1000, device="dl")

def keep():
    return torch.zeros(500, device="dl")

kept_until_the_end = keep()
x = leak()
ctypes.pythonapi.Py_IncRef(ctypes.py_object(x))
address = torch.dl.caching_allocator_alloc(64)
""")
    assert "leaks: 2 blocks, 4064 bytes" in said
    assert re.search(r"of 4000 bytes.*\n  allocated at\n(.*\n)*?.* in leak", said)
    assert "in keep" not in said


def test_without_stacks_the_way_to_them_is_named() -> None:
    said = report(
        """
x = torch.zeros(10, device="dl")
bytes_at(x.data_ptr() + 40, 1)[0] = b"!"
del x
""",
        DL_MEM_CHECK_ENABLE_BACKTRACE="0",
    )
    assert "out of bounds" in said and "DL_MEM_CHECK_ENABLE_BACKTRACE=1" in said


def test_memory_is_counted_as_ever() -> None:
    report("""
before = torch.dl.memory_allocated()
x = torch.empty(100, device="dl")
assert torch.dl.memory_allocated() == before + 400
del x
assert torch.dl.memory_allocated() == before
torch.dl.empty_cache()
assert torch.dl.memory_reserved() == before
""")


def test_it_is_off_unless_asked_for() -> None:
    said = output(
        """
import torch
try:
    torch.dl.check_memory()
except RuntimeError as error:
    print(error)
""",
        DL_VENDORS="cpu",
    )
    assert "DL_MEM_CHECK=1" in said
