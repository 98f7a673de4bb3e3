"""Tests of one process's device memory in another process."""

from __future__ import annotations

import gc
import os
from contextlib import closing

import numpy as np
import pytest

from child import Child
from diopi_proto import ArgumentError, NotSupportedError, OutOfMemoryError, VendorError, load_vendor
from diopi_proto.host.cabi import constants, ffi
from dl_vendor_async_test.plugin import dl_vendor
from driver import Driver

EXPORT = """
before = vendor.empty((100,))  # what follows does not begin with a page
memory = vendor.tensor(np.arange(1000, dtype=np.float32), device=1)
say(vendor.peers.export_memory(memory).hex())
"""


@pytest.fixture
def vendor():
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_both_processes_see_what_each_of_them_writes(vendor):
    code = EXPORT + "hear(); say(memory.numpy()[:3].tolist()); hear()"
    with Child(code) as child:
        handle = bytes.fromhex(child.hear())
        memory = vendor.peers.open_memory(handle, (1000,))
        assert np.array_equal(memory.numpy(), np.arange(1000, dtype=np.float32))
        vendor.op.diopiAddInpScalar(memory, 5, 1)
        child.say()
        assert child.hear() == "[5.0, 6.0, 7.0]"


def test_exporting_twice_gives_one_name(vendor):
    memory = vendor.empty((8,))
    assert vendor.peers.export_memory(memory) == vendor.peers.export_memory(memory)
    other = vendor.empty((8,))
    assert vendor.peers.export_memory(memory) != vendor.peers.export_memory(other)


def test_memory_that_was_freed_cannot_be_opened_and_shows_poison(vendor):
    code = EXPORT + "hear(); del memory; gc.collect(); say('freed'); hear()"
    with Child(code) as child:
        handle = bytes.fromhex(child.hear())
        opened = vendor.peers.open_memory(handle, (4,), "uint8")
        child.say()
        assert child.hear() == "freed"
        assert opened.numpy().tolist() == [0xDB] * 4
        with pytest.raises(VendorError, match="stale handle: the memory was freed"):
            vendor.peers.open_memory(handle, (4,))


def test_a_process_that_dies_leaves_what_was_opened(vendor):
    with Child(EXPORT + "hear()") as child:
        handle = bytes.fromhex(child.hear())
        opened = vendor.peers.open_memory(handle, (1000,))
        child.kill()
        assert opened.numpy()[999] == 999
        number = child.number
    with pytest.raises(VendorError, match=rf"its process has ended .*; process {number} must"):
        vendor.peers.open_memory(handle, (4,))


def test_the_size_is_that_of_the_allocation(vendor):
    with Child(EXPORT + "hear()") as child:
        handle = bytes.fromhex(child.hear())
        with pytest.raises(ArgumentError, match="has 4000 bytes, fewer than"):
            vendor.peers.open_memory(handle, (1001,))
        with closing(Driver()) as driver:
            peers = RawPeers(driver)
            address = peers.open(handle)
            assert driver.read(address + 3996, 4) == np.float32(999).tobytes()
            with pytest.raises(Exception, match="not inside one live allocation"):
                driver.read(address + 3996, 5)
            peers.close(address)
            with pytest.raises(Exception, match="not inside one live allocation"):
                driver.read(address, 4)
            with pytest.raises(VendorError, match="is not memory that was opened on device 0"):
                peers.close(address)


def test_a_process_does_not_open_its_own(vendor):
    handle = vendor.peers.export_memory(vendor.empty((4,)))
    with pytest.raises(VendorError, match="is this process's own"):
        vendor.peers.open_memory(handle, (4,))


@pytest.mark.parametrize(
    ("begin", "value", "told"),
    [
        (0, b"x", "the handle was not returned by export_memory of this vendor"),
        (0, bytes(128), "the handle was not returned by export_memory of this vendor"),
        (44, (1 << 31).to_bytes(4, "little"), "the handle was not returned by export_memory"),
        (32, (12345).to_bytes(4, "little"), "the memory belongs to user 12345"),
        (36, (1 << 30).to_bytes(4, "little"), "its process has ended"),
        (40, (0).to_bytes(4, "little"), "its process has ended or has closed the device"),
        (44, (1023).to_bytes(4, "little"), "the memory was freed"),
        (48, (4096).to_bytes(8, "little"), "its file is a different one"),
        (48, (1 << 60).to_bytes(8, "little"), "its file is a different one"),
        (48, (1).to_bytes(8, "little"), "its file is a different one"),
        (56, b"\0" * 16, "the memory was freed"),
    ],
)
def test_a_forged_handle_opens_nothing(vendor, begin, value, told):
    with Child(EXPORT + "hear()") as child:
        handle = bytearray.fromhex(child.hear())
        handle[begin : begin + len(value)] = value
        with pytest.raises(VendorError, match=told):
            vendor.peers.open_memory(bytes(handle), (1,))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_memory_of_another_user_is_not_opened(vendor):
    """The owner of the file decides, whatever the handle claims."""
    code = """
vendor.close()
os.setuid(12345)
vendor = load_vendor(dl_vendor().library)
memory = vendor.empty((4,))
say(vendor.peers.export_memory(memory).hex())
hear()
"""
    with Child(code) as child:
        handle = bytearray.fromhex(child.hear())
        for _ in range(2):
            with pytest.raises(VendorError, match="the memory belongs to user 12345, and this is"):
                vendor.peers.open_memory(bytes(handle), (1,))
            handle[32:36] = (0).to_bytes(4, "little")


def test_only_whole_allocations_are_exported_and_not_too_many():
    with closing(Driver()) as driver:
        peers = RawPeers(driver)
        memory = [driver.allocate(64) for _ in range(1025)]
        handles = [peers.export(address) for address in memory[:1024]]
        assert len(set(handles)) == 1024
        with pytest.raises(OutOfMemoryError, match="1024 allocations are exported"):
            peers.export(memory[1024])
        driver.free(memory[0])
        peers.export(memory[1024])
        for wrong in (memory[1] + 1, memory[0], 0, 1 << 62):
            with pytest.raises(VendorError, match="is not the start of an allocation of device 0"):
                peers.export(wrong)


def test_events_stay_in_their_process(vendor):
    with pytest.raises(NotSupportedError, match=r"\[peer.export_event\]"):
        vendor.peers._slots.call("export_event", 0, ffi.NULL, ffi.new("dl_peer_handle_t*"))


def test_memory_is_closed_with_its_tensor(vendor):
    with Child(EXPORT + "hear()") as child:
        handle = bytes.fromhex(child.hear())
        first = vendor.peers.open_memory(handle, (1000,))
        address = ffi.cast("void*", first.address)
        del first
        gc.collect()
        with pytest.raises(VendorError, match="is not memory that was opened"):
            vendor.peers._slots.call("close_memory", 0, address)


class RawPeers:
    """The slots of the library's extension, without a host."""

    def __init__(self, driver):
        link = driver.table.extensions
        while link.type != constants.DL_EXT_PEER:
            link = link.next
        self._table, self._driver = ffi.cast("dl_peer_extension_t*", link), driver

    def _call(self, slot, *arguments):
        from diopi_proto.host.structs import raise_status

        self._driver.make_current(0)
        status = getattr(self._table, slot)(self._driver.instance, 0, *arguments)
        raise_status(status, slot, "async")

    def export(self, address):
        handle = ffi.new("dl_peer_handle_t*")
        self._call("export_memory", ffi.cast("void*", address), handle)
        return bytes(ffi.buffer(handle))

    def open(self, handle):
        raw, memory = ffi.new("dl_peer_handle_t*"), ffi.new("void**")
        ffi.buffer(raw)[:] = handle
        self._call("open_memory", raw, memory, ffi.new("uint64_t*"))
        return int(ffi.cast("uintptr_t", memory[0]))

    def close(self, address):
        self._call("close_memory", ffi.cast("void*", address))
