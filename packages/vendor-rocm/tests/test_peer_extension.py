"""Peers, on the fake driver: the tests that all such vendors have, and what the fake notices."""

from __future__ import annotations

from extension_tests import peers
from extension_tests.peers import *  # noqa: F403 - pytest collects them here
from extension_tests.played import Played

from conftest import long

test_torch_shares_a_tensor_with_another_process = long(
    peers.test_torch_shares_a_tensor_with_another_process
)


def test_cards_that_do_not_reach_each_other_say_so(played: Played) -> None:
    code = """
    assert not vendor.peers.can_access(0, 1)
    try:
        vendor.peers.enable_access(0, 1)
    except VendorError as error:
        print(error)
    here, there = vendor.tensor(np.arange(3.0, dtype="f4"), device=0), vendor.empty((3,), device=1)
    vendor.peers.copy(there, here)
    print(there.numpy().tolist())
    """
    said = played.with_cards(2).having(FAKE_HIP_PEERS="off").on_vendor(code)
    assert "kernels of device 0 cannot reach memory of device 1; copy it" in said
    assert said.endswith("[0.0, 1.0, 2.0]\n")


def test_no_error_of_access_stays_behind(played: Played) -> None:
    """HIP keeps what a thread's last call found wrong, and that access is there already is such."""
    code = """
    import cffi, os
    ffi = cffi.FFI()
    ffi.cdef("int hipGetLastError(void); int hipDeviceEnablePeerAccess(int, unsigned);")
    hip = ffi.dlopen(os.environ["DL_ROCM_DRIVER"])
    for _ in range(2):
        vendor.peers.enable_access(0, 1)
    assert hip.hipGetLastError() == 0
    assert hip.hipDeviceEnablePeerAccess(1, 0) == 704 == hip.hipGetLastError()
    for _ in range(2):
        vendor.peers.disable_access(0, 1)
    assert hip.hipGetLastError() == 0
    """
    played.with_cards(2).on_vendor(code)


def test_a_kernel_that_may_not_reach_a_peer_is_noticed(played: Played) -> None:
    code = """
    import os
    x = vendor.tensor(np.arange(3.0, dtype="f4"), device=1)
    vendor.synchronize(1)
    if os.fork() == 0:
        import cffi
        cffi.FFI().cast("float *", x.storage.address)[0]
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.wait()[1]))
    """
    assert int(played.with_cards(2).on_vendor(code)) < 0
