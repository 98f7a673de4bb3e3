"""The slot device_set: all pairs of hosts and vendors with and without it."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from cffi import FFI

from diopi_proto import OperatorError, Vendor, load_vendor
from diopi_proto.host.cabi import ffi
from diopi_proto.host.tableinstance import TableInstance

Compile = Callable[..., Path]
BEFORE = ffi.offsetof("dl_vendor_table_t", "device_set")


@pytest.fixture
def newer(build: Compile) -> Path:
    """Vendor that requires the slot."""
    return build("current_device.cpp")


@pytest.fixture
def older(build: Compile) -> Path:
    """Vendor whose table ends before the slot."""
    return build("current_device.cpp", "-DFIXTURE_OLDER=1")


def filled(vendor: Vendor, device: int, value: float) -> list[float]:
    tensor = vendor.empty((3,), "float32", device=device)
    vendor.op.Fill(tensor, value)
    return [float(x) for x in tensor.numpy()]


def chosen_elsewhere(path: Path, device: int) -> None:
    """Other code on this thread makes a device current in the vendor's driver."""
    own = FFI()
    own.cdef("void fixture_choose(int32_t device);")
    own.dlopen(str(path)).fixture_choose(device)


def test_a_device_is_made_current_for_slots_and_operators(newer: Path) -> None:
    with load_vendor(newer) as vendor:
        for device in (1, 0, 1, 1, 0):
            assert filled(vendor, device, device + 0.5) == [device + 0.5] * 3


def test_it_is_made_so_each_time(newer: Path) -> None:
    with load_vendor(newer) as vendor:
        tensor = vendor.empty((3,), "float32", device=1)
        for value in (1.0, 2.0):
            chosen_elsewhere(newer, 0)
            vendor.op.Fill(tensor, value)
            assert tensor.numpy().tolist() == [value] * 3


def test_it_is_made_so_on_every_thread(newer: Path) -> None:
    with load_vendor(newer) as vendor, ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda i: filled(vendor, i % 2, float(i)), range(40))
        assert list(found) == [[float(i)] * 3 for i in range(40)]


def test_a_host_that_does_not_set_the_device_gets_an_error(
    newer: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fixture fails without device_set, so the other tests are meaningful."""
    with load_vendor(newer) as vendor:
        tensor = vendor.empty((3,), "float32", device=1)
        monkeypatch.setattr(TableInstance, "make_current", lambda self, device: None)
        chosen_elsewhere(newer, 0)
        with pytest.raises(OperatorError, match="device 1 is not current, 0 is"):
            vendor.op.Fill(tensor, 1.0)


def test_new_host_with_old_vendor(older: Path) -> None:
    """An address after the end of the vendor's table is not called."""
    with load_vendor(older) as vendor:
        for device in (1, 0, 1):
            assert filled(vendor, device, device + 0.5) == [device + 0.5] * 3


class OldHost:
    """A host that was compiled without the slot calls the vendor without it."""

    def __init__(self, path: Path) -> None:
        self._library = ffi.dlopen(str(path))
        self._host = ffi.new("dl_host_t*", {"struct_size": ffi.sizeof("dl_host_t")})
        out = ffi.new("dl_vendor_t**")
        assert self._library.dl_vendor_v1(self._host, out) == ffi.NULL
        self._vendor = out[0]
        # Only the fields of the older table.
        known = ffi.buffer(self._vendor.table, BEFORE)[:]
        self._memory = ffi.from_buffer("char[]", known + bytes(ffi.sizeof("void*")))
        self._table = ffi.cast("dl_vendor_table_t*", self._memory)
        assert self._table.device_set == ffi.NULL

    def allocate_and_free(self, device: int) -> str:
        """Return the vendor's error; empty if there is none."""
        memory = ffi.new("void**")
        status = self._table.memory_allocate(self._vendor, device, 64, memory)
        if status == ffi.NULL:
            status = self._table.memory_free(self._vendor, device, memory[0])
        return "" if status == ffi.NULL else ffi.string(status.message).decode()


def test_old_host_with_new_vendor(newer: Path) -> None:
    """The driver's initial device works; another device is rejected, not confused with it."""
    host = OldHost(newer)
    chosen_elsewhere(newer, 0)
    assert host.allocate_and_free(0) == ""
    assert host.allocate_and_free(1) == "device 1 is not current, 0 is"
    chosen_elsewhere(newer, 1)
    assert host.allocate_and_free(1) == ""


def test_old_host_with_old_vendor(older: Path) -> None:
    host = OldHost(older)
    assert [host.allocate_and_free(device) for device in (1, 0, 1)] == ["", "", ""]
