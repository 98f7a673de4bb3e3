"""Devices can access each other's memory."""

from __future__ import annotations

import numpy as np
import pytest

from diopi_proto import ArgumentError, VendorError, ffi, load_vendor
from diopi_proto.host.cabi import constants
from dl_vendor_async_test.plugin import dl_vendor
from driver import SUCCESS, Tensor


@pytest.fixture
def vendor():
    with load_vendor(dl_vendor().library) as opened:
        yield opened


def test_copies_between_devices_in_the_order_of_the_source_stream(vendor):
    stream = vendor.stream(0)
    here = vendor.tensor(np.arange(6, dtype=np.float32), device=0)
    there = vendor.empty((6,), "float32", device=1)
    vendor.op.diopiNeg(here, here, stream=stream, synchronize=False)
    vendor.peers.copy(there, here, stream=stream)
    assert there.numpy().tolist() == [0, -1, -2, -3, -4, -5]
    back = vendor.empty((6,), "float32", device=0)
    vendor.peers.copy(back, there)
    assert back.numpy().tolist() == there.numpy().tolist()


def test_a_copy_that_does_not_fit_is_refused(vendor):
    here = vendor.tensor(np.arange(6, dtype=np.float32), device=0)
    with pytest.raises(ArgumentError, match="differ"):
        vendor.peers.copy(vendor.empty((5,), "float32", device=1), here)
    with pytest.raises(VendorError, match="is not a stream of device 0"):
        vendor.peers._slots.call(
            "copy", 0, *_ends(here, vendor.empty((6,), "float32", device=1)), 24, _number(4096)
        )
    with pytest.raises(VendorError, match="not inside one live allocation of device 1"):
        vendor.peers._slots.call("copy", 0, *_ends(here, here), 24, _number(0))
    with pytest.raises(ArgumentError, match="has no device 2"):
        vendor.peers.can_access(0, 2)


def test_operators_reach_a_peer_while_access_is_enabled(driver):
    far = driver.allocate(16, device=1)
    driver.set(far, 0, 16, device=1)
    driver.synchronize(device=1)
    there = Tensor(far, (4,), "float32", device=1)
    here = driver.empty((4,), "float32")
    peers = RawPeers(driver)
    assert driver.run("diopiExp", here, there) != SUCCESS
    assert "enable access between the two" in driver.last_error()
    for _ in range(2):
        peers.enable(0, 1)
    assert driver.run("diopiExp", here, there) == SUCCESS
    assert driver.array(here).tolist() == [1, 1, 1, 1]
    peers.disable(0, 1)
    assert driver.run("diopiExp", here, there) != SUCCESS


def test_access_is_possible_both_ways(vendor):
    assert vendor.peers.can_access(0, 1)
    assert vendor.peers.can_access(1, 0)
    vendor.peers.enable_access(0, 1)
    vendor.peers.disable_access(0, 1)


def _number(value):
    return ffi.cast("void*", value)


def _ends(source, destination):
    return _number(source.address), 1, _number(destination.address)


class RawPeers:
    """The slots of the library's extension, without a host."""

    def __init__(self, driver):
        link = driver.table.extensions
        while link.type != constants.DL_EXT_PEER:
            link = link.next
        self._table = ffi.cast("dl_peer_extension_t*", link)
        self._driver = driver

    def enable(self, device, peer):
        self._driver.make_current(device)
        assert not self._table.enable_access(self._driver.instance, device, peer)

    def disable(self, device, peer):
        self._driver.make_current(device)
        assert not self._table.disable_access(self._driver.instance, device, peer)
